import { describe, expect, it } from "vitest";
import { createLockbox, deriveColumnKey, type LockboxColumn, publishedDefaultKey } from "./lockbox.ts";

const current = "07508f6ce9d66c128c10935aceb1ed6d4480a323de405b5bde7c6a3b5a7b239b";
const previous = "ff43f89f042821f42af9a6236a4a99087e2965905fed485331e376fc139afa36";

/** Sealed by the library itself. */
const vectors: readonly {
  readonly masterKey: string;
  readonly sealed: LockboxColumn;
  readonly plaintext: string;
  readonly derivedKey: string;
  readonly stored: string;
}[] = [
  {
    masterKey: current,
    sealed: { table: "pushes", column: "payload_ciphertext" },
    plaintext: "hunter2",
    derivedKey: "9d7b7b194267f18350bba8188541e2f5cb2a26e5e4dea06aa657f2c68232f126",
    stored: "F7IXUEI0goZGoqE30GcLzooA0Io53ClrFJ9Q2mmlXqalUa4=",
  },
  {
    masterKey: current,
    sealed: { table: "pushes", column: "payload_ciphertext" },
    plaintext: "Grüße 🔐\r\nзавтра",
    derivedKey: "9d7b7b194267f18350bba8188541e2f5cb2a26e5e4dea06aa657f2c68232f126",
    stored: "M1liBzJv99OaKl38MPvoXOZxql37zTnlqqUMbbxiOiGrcsNHMjj7N/VdKpxeqpdL5wVrTHOs",
  },
  {
    masterKey: current,
    sealed: { table: "pushes", column: "note_ciphertext" },
    plaintext: "für Jörg",
    derivedKey: "281036dec539c049bcddbab64ffbe6c7d6abb8f0804f57fa2afe32d38695e5e7",
    stored: "5yHKCrAZvLcJJJgCYdITqK65wxNW7rGtd2F3Jt//iXgKuP0aHdA=",
  },
  {
    masterKey: current,
    sealed: { table: "pushes", column: "passphrase_ciphertext" },
    plaintext: "open sesame",
    derivedKey: "7a1ed1b637ae88edb3222a83a19083c865a74e5924ba762eb66e7bacb1ee3fa7",
    stored: "5GpnRFYQot/KxEz4pJx+B/vLRSTA/kPo4EyicV7b4XC/3ngzrXGV",
  },
  {
    masterKey: current,
    sealed: { table: "users", column: "otp_secret_ciphertext" },
    plaintext: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
    derivedKey: "068435d6fb45ad708019101e48979c0676212bc4eab4977c95f637e7d5413a91",
    stored: "fHfb18K0khjI0pfawo/y9uzgHP8+93XvN7V2tUYlPEeN4HqVfPWegnDM2DKHFAr5zFLFC3cZQmDbEKVI",
  },
  {
    masterKey: current,
    sealed: { table: "notify_by_emails", column: "recipients_ciphertext" },
    plaintext: "a@example.com, b@example.org",
    derivedKey: "113120175281b5fdada9f3fabc901874d92a9f6362b545ba7ec9d5872341a3fd",
    stored: "7SPTcF6+RYRvU1V8W/xo7pftxG8qES1BA85z/6tG2eQKUBa9nsckgFjx1Jer29srdXSH+UP3pmo=",
  },
  {
    masterKey: previous,
    sealed: { table: "pushes", column: "payload_ciphertext" },
    plaintext: "sealed before the rotation",
    derivedKey: "198f0a9a02ddb138bd76d4ad5d020d1edd173e898786fec9f5542b7c4976d5fe",
    stored: "w//Xg2LqqS7y8r9HQu0vROxWuFcjk/pOvtEnlA/8rMD2DSdgwk37SA28puO+Z7J4H62eWl4J",
  },
  {
    masterKey: publishedDefaultKey,
    sealed: { table: "pushes", column: "payload_ciphertext" },
    plaintext: "no key was set",
    derivedKey: "dadb0fb9261958c0ae0cc953475968e3451b96689bec3b95b5b10efa717cd94b",
    stored: "DSqkIcCls2DfU1hwahwL/3ZgHiaUSBmzMEcd/4O3VI4rMhklXeSEr2Gd",
  },
  {
    masterKey: current,
    sealed: { table: "pushes", column: "payload_ciphertext" },
    plaintext: "",
    derivedKey: "9d7b7b194267f18350bba8188541e2f5cb2a26e5e4dea06aa657f2c68232f126",
    stored: "lr0fbOiiHOPZKpSPZc5xD+XmFspIUIqgGA0iXQ==",
  },
];
const [plain, , , , , , rotated] = vectors;

describe("values that the library has sealed", () => {
  it.each(vectors)("derives the key of $sealed.table.$sealed.column for $plaintext", (vector) => {
    expect(deriveColumnKey(vector.masterKey, vector.sealed).toString("hex")).toBe(vector.derivedKey);
  });

  it.each(vectors)(
    "opens $plaintext with the current key or a previous one",
    ({ sealed, stored, plaintext, masterKey }) => {
      expect(createLockbox([current, previous]).open(sealed, stored)).toEqual({
        text: plaintext,
        underDefaultKey: masterKey === publishedDefaultKey,
      });
    },
  );
});

it("opens nothing with another key, for another column, or with a changed bit", () => {
  const { sealed, stored } = plain ?? { sealed: { table: "pushes", column: "" }, stored: "" };
  const changed = Buffer.from(stored, "base64");
  changed.writeUInt8(changed.readUInt8(14) ^ 1, 14);
  const lockbox = createLockbox([current]);

  expect(createLockbox([previous]).open(sealed, stored)).toBeUndefined();
  expect(lockbox.open({ ...sealed, column: "note_ciphertext" }, stored)).toBeUndefined();
  expect(lockbox.open({ ...sealed, table: "users" }, stored)).toBeUndefined();
  expect(lockbox.open(sealed, changed.toString("base64"))).toBeUndefined();
  for (const text of ["not sealed at all", "AAAA", "=", "\u0000"]) {
    expect(lockbox.open(sealed, text)).toBeUndefined();
  }
});

it("accepts upper-case keys, and recognises the default key if the operator passes it", () => {
  const lockbox = createLockbox([publishedDefaultKey.toUpperCase(), previous.toUpperCase()]);
  const [unprotected] = vectors.filter(({ masterKey }) => masterKey === publishedDefaultKey);
  if (rotated === undefined || unprotected === undefined) throw new Error("The list of vectors is too short.");

  expect(lockbox.open(rotated.sealed, rotated.stored)).toMatchObject({ underDefaultKey: false });
  expect(lockbox.open(unprotected.sealed, unprotected.stored)).toMatchObject({ underDefaultKey: true });
});
