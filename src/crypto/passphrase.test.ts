import { describe, expect, test } from "vitest";
import { AppError } from "../base/errors.ts";
import type { FairQueueLimits } from "../base/fair-queue.ts";
import { createArgon2Queue } from "./passphrase.ts";
import { hex } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

const salt = Buffer.alloc(16, 1);
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

  test.each(vectors.argon2id)("known answer for $secret", async (vector) => {
    expect((await queue.deriveKey(vector.secret, hex(vector.salt), "a")).toString("hex")).toBe(vector.hash);
    expect(await queue.verifyPassword(vector.phc, vector.secret, "a")).toBe(true);
  });

  test("uses a secret byte for byte: blanks, case and Unicode forms differ", async () => {
    const forms = ["pässword", "pässword".normalize("NFD"), " pässword", "pässword ", "Pässword", "pässword\0", ""];
    const keys = await Promise.all(forms.map((form) => queue.deriveKey(form, salt, "a")));
    expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(forms.length);
    expect(keys[0]).toEqual(await queue.deriveKey("p\u00e4ssword", salt, "b"));
  });

  test("hashes a password at the configured cost, each with its own salt", async () => {
    const phc = await queue.hashPassword("correct horse", "a");
    expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(await queue.hashPassword("correct horse", "a")).not.toBe(phc);
    expect(await queue.verifyPassword(phc, "correct horse", "a")).toBe(true);
    expect(await queue.verifyPassword(phc, "correct horsf", "a")).toBe(false);
    expect(await queue.verifyPassword(phc, "", "a")).toBe(false);
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
    await expectFull(queue.verifyPassword("$argon2id$", "password", "f"));
    await Promise.all(accepted);
    await derive("d2");
    expect(queue.waiting).toBe(0);
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
    const failing = [1, 2, 3].map(() => queue.verifyPassword("no PHC string", "password", "a"));
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
