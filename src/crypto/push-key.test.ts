import { describe, expect, test } from "vitest";
import { derivePushKey, type LinkSecrets, type PushIdentity } from "./push-key.ts";
import { hex } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

const rowSecret = Buffer.alloc(32, 1);
const secrets: LinkSecrets = { urlToken: "token", passphraseHash: Buffer.alloc(32, 2) };
const identity: PushIdentity = { id: 1, sealGeneration: 1, kind: "text", ownerId: null };
const keysOf = (...given: Parameters<typeof derivePushKey>) => {
  const { check, payloadKey, fileKeysKey } = derivePushKey(...given);
  return [check, payloadKey, fileKeysKey()].map((key) => key.toString("hex"));
};
const known = keysOf(rowSecret, secrets, identity);

describe("derivePushKey", () => {
  test.each(vectors.pushKey)("$source: $kind, owner $ownerId", (vector) => {
    const passphraseHash = vector.passphraseHash === null ? undefined : hex(vector.passphraseHash);
    const keys = keysOf(hex(vector.rowSecret), { urlToken: vector.urlToken, passphraseHash }, vector);
    expect(keys).toEqual([vector.check, vector.payloadKey, vector.fileKeysKey]);
  });

  test("the check, the payload key and the key of the file keys have 32 bytes each and are different", () => {
    expect(new Set(known).size).toBe(3);
    for (const key of known) expect(key).toHaveLength(64);
  });

  test.each([
    ["row secret", [Buffer.alloc(32, 3), secrets, identity]],
    ["url_token", [rowSecret, { ...secrets, urlToken: "tokem" }, identity]],
    ["passphrase", [rowSecret, { ...secrets, passphraseHash: Buffer.alloc(32, 3) }, identity]],
    ["no passphrase", [rowSecret, { ...secrets, passphraseHash: undefined }, identity]],
    ["id", [rowSecret, secrets, { ...identity, id: 2 }]],
    ["generation", [rowSecret, secrets, { ...identity, sealGeneration: 2 }]],
    ["kind", [rowSecret, secrets, { ...identity, kind: "url" }]],
    ["owner", [rowSecret, secrets, { ...identity, ownerId: 0 }]],
  ] as const)("another %s gives other keys", (_, [secret, link, push]) => {
    for (const [at, key] of keysOf(secret, link, push).entries()) expect(key).not.toBe(known[at]);
  });

  test("a token that contains the bytes of a passphrase hash is not a token with that hash", () => {
    const hash = Buffer.alloc(32, "a");
    const joined = { urlToken: `token${hash.toString("latin1")}`, passphraseHash: undefined };
    expect(keysOf(rowSecret, joined, identity)).not.toEqual(
      keysOf(rowSecret, { urlToken: "token", passphraseHash: hash }, identity),
    );
  });

  test("a passphrase hash or a row secret of another length throws", () => {
    for (const length of [0, 31, 33]) {
      const wrong = Buffer.alloc(length);
      expect(() => derivePushKey(rowSecret, { ...secrets, passphraseHash: wrong }, identity)).toThrow(RangeError);
      expect(() => derivePushKey(wrong, secrets, identity)).toThrow(RangeError);
    }
  });
});
