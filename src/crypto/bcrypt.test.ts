import bcrypt from "bcryptjs";
import { describe, expect, it } from "vitest";
import { isBcryptHash, verifyBcrypt } from "./bcrypt.ts";
import { createArgon2Queue } from "./passphrase.ts";

/** Hash created by another program. */
const password = "Größe-пароль-2026";
const known = "$2a$12$P2LGMOxYOg98MBraDDXIk.FfynaKP38lvIIQZTkDjwasnw55JPabu";

describe("verifyBcrypt", () => {
  it("verifies another program's hashes with every prefix of the format", async () => {
    expect(await verifyBcrypt(known, password)).toBe(true);
    expect(await verifyBcrypt(known, "Größe-пароль-2027")).toBe(false);
    const cheap = await bcrypt.hash(password, 4);
    for (const name of ["$2a$", "$2b$", "$2y$"]) {
      expect(await verifyBcrypt(cheap.replace(/^\$2.\$/, name), password)).toBe(true);
    }
  });

  it("reads only the first 72 bytes, as the format defines", async () => {
    const long = "x".repeat(72);
    const hash = await bcrypt.hash(long, 4);
    expect(await verifyBcrypt(hash, `${long} and more`)).toBe(true);
    expect(await verifyBcrypt(hash, long.slice(1))).toBe(false);
  });

  it.each([16, 31])("never verifies a hash of cost %i, which would keep the server busy", async (cost) => {
    expect(await verifyBcrypt(known.replace("$12$", `$${cost}$`), password)).toBe(false);
  });

  it.each(["", "$2a$", "$argon2id$v=19$", known.slice(1), `${known}x`, known.replace("$2a$", "$2x$")])(
    "accepts only bcrypt hashes: %#",
    async (stored) => {
      expect(isBcryptHash(stored)).toBe(false);
      expect(await verifyBcrypt(stored, password)).toBe(false);
    },
  );

  it("waits in the same queue as Argon2id", async () => {
    const queue = createArgon2Queue({ runningMax: 1, waitingMax: 5, waitingPerClientMax: 5 });
    const cheap = await bcrypt.hash(password, 4);
    const asked = [1, 2, 3].map(() => queue.verifyPassword(cheap, password, "c"));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  });
});
