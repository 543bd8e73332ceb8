import type { Random } from "../base/random.ts";
import { hkdf } from "./hkdf.ts";
import { envelopeKeyId, open, type SealingKey, seal, sealingKey } from "./seal.ts";

const masterKeyBytes = 32;
const noSalt = Buffer.alloc(0);
const unringedId = "00000000";

/** A published default key that everybody knows: it may open old data but never seal new data. */
const publishedKey = Buffer.from("749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f", "hex");

export type Keyring = Readonly<ReturnType<typeof createKeyring>>;

/** A master key is only used for derivation: its id and its sealing key reveal nothing about each other. */
function sealingKeyOf(master: Buffer): SealingKey {
  return sealingKey(hkdf(master, noSalt, "sealpush key id", 4), hkdf(master, noSalt, "sealpush seal", 32));
}

/**
 * @param masterKeys 32 bytes each, the active one first.
 * @throws Error when there is none, a length is wrong, a key is given twice, or two keys have the same id.
 */
export function createKeyring(masterKeys: readonly Buffer[], random: Random) {
  const keys = new Map<string, SealingKey>();
  for (const [at, master] of masterKeys.entries()) {
    if (master.length !== masterKeyBytes) throw new Error(`Master key ${at + 1} is not ${masterKeyBytes} bytes long.`);
    if (masterKeys.findIndex((other) => other.equals(master)) !== at) {
      throw new Error(`Master key ${at + 1} is given twice.`);
    }
    const key = sealingKeyOf(master);
    const id = key.id.toString("hex");
    if (id === unringedId || keys.has(id)) {
      throw new Error(`Master key ${at + 1} has the key id of another one: generate a new key.`);
    }
    keys.set(id, key);
  }
  const [active] = keys.values();
  if (active === undefined) throw new Error("There is no master key.");
  const activeId = active.id.toString("hex");

  return {
    active,
    /** 8 hex digits each, the active one first. */
    ids: [...keys.keys()] as readonly string[],
    /** Seals under the active key. */
    seal: (context: string, plaintext: Uint8Array): Buffer => seal(active, context, plaintext, random),
    /** Opens with the key named in the envelope; undefined when that key is not in the ring or the envelope does not open. */
    open(context: string, envelope: Uint8Array): Buffer | undefined {
      const id = envelopeKeyId(envelope);
      const key = id === undefined ? undefined : keys.get(id);
      return key === undefined ? undefined : open(key, context, envelope);
    },
    sealedUnderActive: (envelope: Uint8Array) => envelopeKeyId(envelope) === activeId,
    /** @param keyId 8 hex digits. */
    has: (keyId: string) => keys.has(keyId),
  };
}

function parseMasterKey(text: string, name: string): Buffer {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new Error(`${name} must be exactly 64 hex digits (32 bytes).`);
  return Buffer.from(text, "hex");
}

/**
 * @param active 64 hex digits in either case, surrounding whitespace is ignored; undefined or blank: not given.
 * @param previous the same, any number, separated by commas.
 * @returns the active key first; empty when none is given.
 * @throws Error that never repeats a value.
 */
export function parseMasterKeys(active: string | undefined, previous: string | undefined): Buffer[] {
  const activeText = active?.trim() ?? "";
  const previousTexts = (previous ?? "")
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  if (activeText === "") {
    if (previousTexts.length === 0) return [];
    throw new Error("Previous master keys are given, but no active master key.");
  }
  const activeKey = parseMasterKey(activeText, "The active master key");
  if (activeKey.equals(publishedKey)) {
    throw new Error(
      "The active master key is a published default that everybody knows. Make a new one and put it first; " +
        "the published one may stay among the previous keys.",
    );
  }
  return [activeKey, ...previousTexts.map((text, at) => parseMasterKey(text, `Previous master key ${at + 1}`))];
}
