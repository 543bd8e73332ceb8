import { hashSync } from "bcryptjs";
import { describe, expect, test } from "vitest";
import { AppError } from "../base/errors.ts";
import type { FairQueueLimits } from "../base/fair-queue.ts";
import { systemRandom } from "../base/random.ts";
import {
  adoptPasswordHash,
  createArgon2Queue,
  isOutdatedHash,
  makeDummyHash,
  makePassphraseSalt,
} from "./passphrase.ts";
import { hex } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

const salt = Buffer.concat([Uint8Array.of(1), Buffer.alloc(16, 1)]);
const roomy: FairQueueLimits = { runningMax: 1, waitingMax: 100, waitingPerClientMax: 50 };

/** Runs one derivation per name, "a1" for client "a", and records the order in which they end. */
function deriver(limits: FairQueueLimits) {
  const queue = createArgon2Queue(limits);
  const ended: string[] = [];
  const derive = async (name: string): Promise<void> => {
    await queue.deriveKey(name, salt, name.charAt(0));
    ended.push(name);
  };
  return { queue, ended, derive };
}

async function expectFull(attempt: Promise<unknown>): Promise<void> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
}

describe("Argon2id", () => {
  const queue = createArgon2Queue(roomy);

  test.each(vectors.argon2id)("known answer for $secret with parameter set $set", async (vector) => {
    const numbered = Buffer.concat([Uint8Array.of(vector.set), hex(vector.salt)]);
    expect((await queue.deriveKey(vector.secret, numbered, "a")).toString("hex")).toBe(vector.hash);
    const adopted = adoptPasswordHash(vector.phc) ?? "";
    expect(adopted).toMatch(new RegExp(`^argon2id:${vector.set}:[^=]+$`));
    expect(await queue.verifyPassword(adopted, vector.secret, "a")).toBe(true);
    expect(await queue.verifyPassword(adopted, `${vector.secret}x`, "a")).toBe(false);
    expect(isOutdatedHash(adopted)).toBe(vector.set !== 2);
  });

  test("passphrases of users get more expensive parameters than those of anybody", () => {
    expect([makePassphraseSalt(systemRandom, true)[0], makePassphraseSalt(systemRandom, false)[0]]).toEqual([2, 1]);
    expect(makePassphraseSalt(systemRandom, true)).toHaveLength(17);
    expect(makePassphraseSalt(systemRandom, true)).not.toEqual(makePassphraseSalt(systemRandom, true));
  });

  // 250 and 251: the cheap sets of the test build.
  test.each([0, 3, 250, 251, 255])(
    "a salt or hash with the unknown parameter set %i is an error, whatever it demands",
    async (set) => {
      const numbered = Buffer.concat([Uint8Array.of(set), Buffer.alloc(16, 1)]);
      const unknown = `This program has no Argon2id parameter set ${set}.`;
      await expect(queue.deriveKey("x", numbered, "a")).rejects.toThrow(unknown);
      const hash = `argon2id:${set}:${"A".repeat(22)}:${"A".repeat(43)}`;
      await expect(queue.verifyPassword(hash, "x", "a")).rejects.toThrow(unknown);
      await expect(queue.deriveKey("x", Buffer.alloc(0), "a")).rejects.toThrow("no Argon2id parameter set 0");
    },
  );

  test.each([
    "$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHQ$PL01amPyeUuxG7H0vIr5X+qHkZvWnHmGBGXFYvh8z2E",
    "$argon2id$v=19$m=19456,t=200,p=1$c29tZXNhbHQ$PL01amPyeUuxG7H0vIr5X+qHkZvWnHmGBGXFYvh8z2E",
    "$argon2id$v=19$m=19456,t=2,p=4$c29tZXNhbHQ$PL01amPyeUuxG7H0vIr5X+qHkZvWnHmGBGXFYvh8z2E",
    "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$PL01amPyeUuxG7H0vIr5X+qHkZvWnHmGBGXFYvh8z2E",
    "argon2id:2:c29tZXNhbHQ:PL01amPyeUuxG7H0vIr5X+qHkZvWnHmGBGXFYvh8z2E",
    "$2a$16$P2LGMOxYOg98MBraDDXIk.FfynaKP38lvIIQZTkDjwasnw55JPabu",
    "",
  ])("does not adopt a hash whose cost is none of ours: %#", async (given) => {
    expect(adoptPasswordHash(given)).toBeUndefined();
  });

  test("verifies no PHC string, which would carry its own cost", async () => {
    for (const { phc, secret } of vectors.argon2id) {
      await expect(queue.verifyPassword(phc, secret, "a")).rejects.toThrow("malformed");
    }
  });

  test("uses a secret byte for byte: blanks, case and Unicode forms differ", async () => {
    const forms = ["pässword", "pässword".normalize("NFD"), " pässword", "pässword ", "Pässword", "pässword\0", ""];
    const keys = await Promise.all(forms.map((form) => queue.deriveKey(form, salt, "a")));
    expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(forms.length);
    expect(keys[0]).toEqual(await queue.deriveKey("p\u00e4ssword", salt, "b"));
  });

  test("verifies a password in another composition, and a hash of a decomposed one as it was typed", async () => {
    const [composed, decomposed] = ["pässword".normalize("NFC"), "pässword".normalize("NFD")];
    const hash = await queue.hashPassword(decomposed, "a");
    expect(await queue.verifyPassword(hash, composed, "a")).toBe(true);
    expect(await queue.verifyPassword(hash, decomposed, "a")).toBe(true);
    expect(await queue.verifyPassword(hash, "passwörd", "a")).toBe(false);
    const imported = hashSync(decomposed, 4);
    expect(await queue.verifyPassword(imported, decomposed, "a")).toBe(true);
  });

  test("hashes a password at the configured cost, each with its own salt", async () => {
    const hash = await queue.hashPassword("correct horse", "a");
    expect(hash).toMatch(/^argon2id:2:[\w+/]{22}:[\w+/]{43}$/);
    expect(await queue.hashPassword("correct horse", "a")).not.toBe(hash);
    expect(await queue.verifyPassword(hash, "correct horse", "a")).toBe(true);
    expect(await queue.verifyPassword(hash, "correct horsf", "a")).toBe(false);
    expect(await queue.verifyPassword(hash, "", "a")).toBe(false);
    // Trying an account that nobody has takes as long.
    expect(makeDummyHash(systemRandom)).toMatch(/^argon2id:2:[\w+/]{22}:[\w+/]{43}$/);
  });
});

describe("the queue", () => {
  test("clients are served round-robin, each in its own order", async () => {
    const { queue, ended, derive } = deriver(roomy);
    const all = Promise.all(["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map(derive));
    expect(queue.waiting).toBe(6);
    await all;
    expect(ended).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
    expect(queue.waiting).toBe(0);
  });

  test("a late client waits for one operation of a flood, not for all of it", async () => {
    const { ended, derive } = deriver(roomy);
    const flood = Promise.all(Array.from({ length: 20 }, (_, at) => derive(`a${at}`)));
    await derive("b1");
    expect(ended.indexOf("b1")).toBeLessThanOrEqual(2);
    await flood;
    expect(ended.length).toBe(21);
  });

  test("a client that exceeds its part of the queue is refused, another is not", async () => {
    const { queue, ended, derive } = deriver({ runningMax: 1, waitingMax: 10, waitingPerClientMax: 2 });
    const accepted = ["a1", "a2", "a3"].map(derive);
    await expectFull(derive("a4"));
    accepted.push(derive("b1"));
    expect(queue.waiting).toBe(3);
    await Promise.all(accepted);
    expect(ended).toEqual(["a1", "a2", "b1", "a3"]);
  });

  test("a full queue refuses all clients, and accepts them again once it has emptied", async () => {
    const { queue, derive } = deriver({ runningMax: 1, waitingMax: 2, waitingPerClientMax: 2 });
    const accepted = ["a1", "b1", "c1"].map(derive);
    await expectFull(derive("d1"));
    await expectFull(queue.hashPassword("password", "e"));
    await expectFull(queue.verifyPassword(`argon2id:1:${"A".repeat(22)}:${"A".repeat(43)}`, "password", "f"));
    await Promise.all(accepted);
    await derive("d2");
    expect(queue.waiting).toBe(0);
  });

  test("expensive operations use up the queue sooner: what may wait is counted in units of the cheapest", async () => {
    const { queue, derive } = deriver({ runningMax: 1, waitingMax: 11, waitingPerClientMax: 6 });
    const accepted: Promise<unknown>[] = [derive("a1"), queue.hashPassword("password", "b")];
    await expectFull(queue.hashPassword("password", "b"));
    accepted.push(derive("b1"), queue.hashPassword("password", "c"));
    expect(queue.waiting).toBe(3);
    await expectFull(derive("d1"));
    await Promise.all(accepted);
    await queue.hashPassword("password", "b");
  });

  test("the number of concurrent operations is limited", async () => {
    const { queue, ended, derive } = deriver({ runningMax: 3, waitingMax: 10, waitingPerClientMax: 10 });
    const all = Promise.all(["a1", "a2", "a3", "a4", "a5"].map(derive));
    expect(queue.waiting).toBe(2);
    await all;
    expect(ended.length).toBe(5);
    expect(queue.waiting).toBe(0);
  });

  test("a failed operation frees its slot in the queue", async () => {
    const { queue, ended, derive } = deriver(roomy);
    const tooShort = Buffer.of(1, 0, 0, 0, 0);
    const failing = [1, 2, 3].map(() => queue.deriveKey("x", tooShort, "a"));
    const next = derive("b1");
    for (const attempt of failing) await expect(attempt).rejects.toThrow();
    await next;
    expect(ended).toEqual(["b1"]);
    expect(queue.waiting).toBe(0);
  });

  test("refuses limits below 1", () => {
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      expect(() => createArgon2Queue({ ...roomy, runningMax: limit })).toThrow(RangeError);
      expect(() => createArgon2Queue({ ...roomy, waitingMax: limit })).toThrow(RangeError);
      expect(() => createArgon2Queue({ ...roomy, waitingPerClientMax: limit })).toThrow(RangeError);
    }
  });
});
