import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { armor, Encrypter, generateHybridIdentity, identityToRecipient } from "age-encryption";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findLock } from "./age-header.ts";
import { fingerprintOf, ownerProofOf, readFingerprint, readFragment, writeFragment } from "./key-check.ts";
import { type LinkKey, makeLinkKey, readLinkKey } from "./link-key.ts";
import { DamagedError, openFile, openIdentity, openText, WrongPassphraseError } from "./open.ts";
import { isRecipient, sealedSize, sealFile, sealText, sealUnderPassphrase } from "./seal.ts";

const secret = "\ufeffgeheim 🔑\r\nzweite Zeile\n";

let key: LinkKey;
let folder: string;
beforeEach(async () => {
  key = await makeLinkKey();
  folder = mkdtempSync(join(tmpdir(), "sealpush-age-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the key of a link", () => {
  test("is read from the fragment, and its check is the digest that the documentation computes in a shell", async () => {
    expect(await readLinkKey(`#${key.identity}`)).toEqual(key);
    const sha256sum = (text: string) => createHash("sha256").update(text).digest("hex");
    expect(sha256sum(`sealpush key check ${key.identity}`).slice(0, 32)).toBe(key.check);
    expect(sha256sum(`sealpush request owner ${key.identity}`)).toBe(await ownerProofOf(key.identity));
    const fingerprint = sha256sum(`sealpush request recipient ${key.recipient}`);
    expect(fingerprint.slice(0, 32)).toBe(await fingerprintOf(key.recipient));
  });

  test("is refused with a character changed, lost or added, in lower case, and if it is missing", async () => {
    const { identity } = key;
    const last = identity.at(-1) === "Q" ? "P" : "Q";
    for (const wrong of [`${identity.slice(0, -1)}${last}`, identity.slice(0, -1), `${identity}Q`, "", "#content"]) {
      expect(await readLinkKey(wrong)).toBeUndefined();
    }
    expect(await readLinkKey(identity.toLowerCase())).toBeUndefined();
  });

  test("of an answer names the request, and is the one of no other link", async () => {
    const { identity } = key;
    const fragment = writeFragment({ identity, request: "abc-_9" });
    expect(fragment).toBe(`${identity}.abc-_9`);
    expect(readFragment(`#${fragment}`)).toEqual({ identity, request: "abc-_9" });
    expect(readFragment(`#${identity}`)).toEqual({ identity, request: null });
    expect(await readLinkKey(fragment)).toBeUndefined();
    for (const wrong of [`${identity}.a b`, `${identity}.a.b`, `${identity}#a`, ".abc"]) {
      expect(readFragment(wrong)).toBeUndefined();
    }
  });

  test("is read although a program has taken what followed the link into it", async () => {
    const { identity } = key;
    const fragment = writeFragment({ identity, request: "abc-_" });
    const fingerprint = await fingerprintOf(key.recipient);
    for (const after of [".", ",", ")", ").", ">", "%3E", '"', "%22", "”", "%E2%80%9D", "*", "%0A"]) {
      expect(readFragment(`#${identity}${after}`)).toEqual({ identity, request: null });
      expect(readFragment(`#${fragment}${after}`)).toEqual({ identity, request: "abc-_" });
      expect(readFingerprint(`#${fingerprint}${after}`)).toBe(fingerprint);
    }
    for (const wrong of ["", "#", "#content", `#${fingerprint}a`, fingerprint.slice(1), `${fingerprint}.a`]) {
      expect(readFingerprint(wrong)).toBeUndefined();
    }
  });

  test("has another check for each link", async () => {
    expect((await makeLinkKey()).check).not.toBe(key.check);
  });
});

describe("a text", () => {
  test.each(["", "x", secret, "a".repeat(70_000)])("opens with the key exactly as it was sealed (%#)", async (text) => {
    const sealed = await sealText(text, key.recipient, "");
    expect(findLock(sealed)).toBe("identity");
    expect(await openText(sealed, key.identity, "")).toBe(text);
  });

  test("under a passphrase needs both the passphrase and the key", async () => {
    const sealed = await sealText(secret, key.recipient, "correct horse");
    expect(findLock(sealed)).toBe("passphrase");
    expect(await openText(sealed, key.identity, "correct horse")).toBe(secret);
    await expect(openText(sealed, key.identity, "wrong horse")).rejects.toThrow(WrongPassphraseError);
    await expect(openText(sealed, (await makeLinkKey()).identity, "correct horse")).rejects.toThrow(DamagedError);
  });

  test("under a passphrase opens in another composition, and as it was typed where another program has sealed it", async () => {
    const [composed, decomposed] = ["pässphräse".normalize("NFC"), "pässphräse".normalize("NFD")];
    const sealed = await sealText(secret, key.recipient, decomposed);
    expect(await openText(sealed, key.identity, composed)).toBe(secret);
    expect(await openText(sealed, key.identity, decomposed)).toBe(secret);
    const other = new Encrypter();
    other.setScryptWorkFactor(10);
    other.setPassphrase(decomposed);
    const sealedByOther = armor.encode(await other.encrypt(await sealText(secret, key.recipient, "")));
    expect(await openText(sealedByOther, key.identity, decomposed)).toBe(secret);
  });

  test("does not open with another key, or when a character was changed", async () => {
    const sealed = await sealText(secret, key.recipient, "");
    await expect(openText(sealed, (await makeLinkKey()).identity, "")).rejects.toThrow(DamagedError);
    const lines = sealed.split("\n");
    const body = lines.at(-3) ?? "";
    lines.splice(-3, 1, body.replace(/^./, body.startsWith("A") ? "B" : "A"));
    await expect(openText(lines.join("\n"), key.identity, "")).rejects.toThrow(DamagedError);
  });
});

test("an identity under a passphrase opens with it, also between the comments of age-keygen", async () => {
  const sealed = await sealUnderPassphrase(`# created: now\n# public key: x\n${key.identity}\n`, "correct horse");
  expect(findLock(sealed)).toBe("passphrase");
  expect(await openIdentity(sealed, "correct horse")).toBe(key.identity);
  await expect(openIdentity(sealed, "wrong horse")).rejects.toThrow(WrongPassphraseError);
});

test("a recipient is recognised by its form and its checksum", () => {
  expect(isRecipient(key.recipient)).toBe(true);
  const last = key.recipient.endsWith("q") ? "p" : "q";
  for (const wrong of [`${key.recipient.slice(0, -1)}${last}`, key.recipient.toUpperCase(), key.identity, "", "age1"]) {
    expect(isRecipient(wrong)).toBe(false);
  }
});

describe("a file", () => {
  test.each([0, 1, 65_536, 200_000])(
    "of %d bytes opens as it was, and its sealed size is known before",
    async (size) => {
      const content = Buffer.alloc(size, "xyz");
      const bytes = await read(await sealFile(new Blob([content]).stream(), key.recipient));
      expect(bytes).toHaveLength(sealedSize(size));
      expect(await read(await openFile(new Blob([bytes]).stream(), key.identity))).toEqual(content);
    },
  );

  test("that does not have the size in the sealed list fails", async () => {
    const bytes = await read(await sealFile(new Blob([Buffer.alloc(200_000)]).stream(), key.recipient));
    for (const [size, isRight] of [
      [199_999, false],
      [200_000, true],
      [200_001, false],
    ] as const) {
      const opened = read(await openFile(new Blob([bytes]).stream(), key.identity, size));
      if (isRight) expect(await opened).toHaveLength(size);
      else await expect(opened).rejects.toThrow(DamagedError);
    }
  });

  test("that was cut or changed fails instead of opening in part", async () => {
    const bytes = await read(await sealFile(new Blob([Buffer.alloc(200_000)]).stream(), key.recipient));
    const cut = await openFile(new Blob([bytes.subarray(0, 150_000)]).stream(), key.identity);
    await expect(read(cut)).rejects.toThrow();
    bytes.writeUInt8(bytes.readUInt8(100_000) ^ 1, 100_000);
    await expect(read(await openFile(new Blob([bytes]).stream(), key.identity))).rejects.toThrow();
  });
});

describe("what the server recognises", () => {
  test("texts that are no armored age file are refused", async () => {
    const sealed = await sealText(secret, key.recipient, "");
    const lines = sealed.trimEnd().split("\n");
    const broken = [
      "",
      secret,
      lines.slice(0, -1).join("\n"),
      lines.toSpliced(1, 1).join("\n"),
      lines.toSpliced(1, 0, "").join("\n"),
      sealed.replace(/^(.{40})./m, "$1"),
      sealed.replace("BEGIN AGE", "BEGIN PGP"),
      sealed.replace(/^[^-]/m, "*"),
      `${lines[0]}\n${btoa("age-encryption.org/v1\n")}\n${lines.at(-1)}`,
      `${lines[0]}\n${lines.at(-1)}`,
      `before\n${sealed}`,
    ];
    for (const text of broken) expect(findLock(text), text).toBeUndefined();
  });

  test("line ends of Windows and blank lines around the armor are accepted", async () => {
    const sealed = await sealText(secret, key.recipient, "");
    expect(findLock(`\r\n${sealed.replaceAll("\n", "\r\n")}\r\n`)).toBe("identity");
  });

  test.each([
    ["line ends", "\n"],
    ["whole lines", `${"A".repeat(64)}\n`],
    ["a single line", "A"],
  ])("a text as long as the longest payload, of %s, needs hardly any memory", async (_name, unit) => {
    const job = `
      import { findLock } from ${JSON.stringify(new URL("age-header.ts", import.meta.url).href)};
      const text = ${JSON.stringify(unit)}.repeat(Math.floor(5_770_000 / ${unit.length}));
      for (const around of [["", ""], ["-----BEGIN AGE ENCRYPTED FILE-----\\n", "\\n-----END AGE ENCRYPTED FILE-----"]]) {
        if (findLock(around.join(text)) !== undefined) throw new Error("It is no age file.");
      }`;
    // Lists of its lines or characters would not fit.
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(job)}`), {
      resourceLimits: { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 },
    });
    expect(await once(worker, "exit")).toEqual([0]);
  });

  test("keys that links do not have are refused", async () => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(await generateHybridIdentity()));
    expect(findLock(armor.encode(await encrypter.encrypt(secret)))).toBeUndefined();
  });
});

async function read(stream: ReadableStream<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  return Buffer.from(await new Response(stream).arrayBuffer());
}
