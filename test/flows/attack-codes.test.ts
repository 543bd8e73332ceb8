import { describe, expect, onTestFinished, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { password, startTestApp } from "../support/app.ts";
import { TestAuthenticator } from "../support/authenticator.ts";
import { appFor } from "../support/factors.ts";
import { createOwnedPushes, type OwnedPushes } from "../support/owned-pushes.ts";
import { type Answer, type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const wrongCode = "000000";
const wrongBackupCode = "7k2m-7k2m-7k2m-7k2m";

interface Fixture {
  readonly ownedPushes: OwnedPushes;
  readonly advance: (ms: number) => void;
  readonly now: () => number;
  /** The owner's password, from some address: a sign-in that waits for its factor. */
  waiting(at: number): Promise<SignedInClient>;
}

async function open(): Promise<Fixture> {
  const fixture = await startTestApp();
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const ownedPushes = await createOwnedPushes(fixture);
  return {
    ownedPushes,
    advance: (ms) => fixture.clock.advance(ms),
    now: () => fixture.clock.now(),
    waiting: (at) => signInClient(fixture, ownedPushes.email, { address: `198.51.100.${at}` }),
  };
}

/** The key of another app, as its page shows it. */
async function offered({ person }: OwnedPushes) {
  const { body } = await person.get("/users/factors/authenticator_app");
  const setUp = /name="set_up" value="([^"]*)"/.exec(body)?.[1] ?? "";
  return { setUp, key: /<output[^>]*>([A-Z2-7 ]+)<\/output>/.exec(body)?.[1] ?? "" };
}

/** Each way to try a code, as often as there are addresses. */
const doors: Readonly<Record<string, (fixture: Fixture, at: number) => Promise<() => Promise<Answer>>>> = {
  "the challenge, by a code": async (fixture, at) => {
    const person = await fixture.waiting(at);
    return () => person.post("/users/second_factor", { code: wrongCode });
  },
  "the challenge, by a backup code": async (fixture, at) => {
    const person = await fixture.waiting(at);
    return () => person.post("/users/second_factor", { backup_code: wrongBackupCode });
  },
  "the confirmation of another app": async ({ ownedPushes }) => {
    const { setUp } = await offered(ownedPushes);
    const fields = { set_up: setUp, code: wrongCode, proof: password };
    return () => ownedPushes.person.post("/users/factors/authenticator_app", fields);
  },
  "the proof for another app": async ({ ownedPushes, now }) => {
    const { setUp, key } = await offered(ownedPushes);
    const fields = { set_up: setUp, code: appFor(key, now).code(), proof: wrongCode };
    return () => ownedPushes.person.post("/users/factors/authenticator_app", fields);
  },
  "the removal of the app": async ({ ownedPushes }) => {
    return () => ownedPushes.person.post("/users/factors/authenticator_app/remove", { proof: wrongCode });
  },
  "the removal of a passkey": async ({ ownedPushes }) => {
    const path = `/users/factors/passkeys/${ownedPushes.ids.passkey[0]}/remove`;
    return () => ownedPushes.person.post(path, { proof: wrongBackupCode });
  },
  "the proof for another passkey": async ({ ownedPushes }) => {
    const { body } = await ownedPushes.person.post("/users/factors/passkeys/options");
    const passkey = new TestAuthenticator().create(JSON.parse(body));
    return () => ownedPushes.person.post("/users/factors/passkeys", { name: "x", passkey, proof: wrongCode });
  },
  "new backup codes": async ({ ownedPushes }) => {
    return () => ownedPushes.person.post("/users/factors/backup_codes", { proof: wrongBackupCode });
  },
};

describe("brute force of codes", () => {
  test.each(Object.keys(doors))(
    "by %s ends after ten, however many sessions and addresses try at once",
    async (name) => {
      const fixture = await open();
      const tries: (() => Promise<Answer>)[] = [];
      for (let at = 1; at <= 14; at += 1) {
        const door = await doors[name]?.(fixture, at);
        if (door !== undefined) tries.push(door);
      }
      const answers = await Promise.all(tries.map((attempt) => attempt()));
      const tried = answers.filter(({ status }) => status === 401 || status === 422);
      const refused = answers.filter(({ status }) => status === 429);
      expect([tried.length, refused.length]).toEqual([10, 4]);
      for (const { headers } of refused) expect(Number(headers["retry-after"])).toBeGreaterThan(0);

      // The others are shut with it, for the right code too.
      for (const [other, door] of Object.entries(doors)) {
        expect([other, (await (await door(fixture, 99))()).status]).toEqual([other, 429]);
      }
      const right = await (await fixture.waiting(77)).post("/users/second_factor", {
        code: fixture.ownedPushes.app.code(),
      });
      expect(right.status).toBe(429);
      const spare = { backup_code: fixture.ownedPushes.backupCodes[0] ?? "" };
      expect((await (await fixture.waiting(78)).post("/users/second_factor", spare)).status).toBe(429);
      fixture.advance(15 * minuteMs);
      expect((await (await fixture.waiting(79)).post("/users/second_factor", spare)).status).toBe(303);
    },
  );

  test("is not begun anew by signing in again, by a right password, or by leaving", async () => {
    const fixture = await open();
    const statuses: number[] = [];
    for (let at = 1; at <= 12; at += 1) {
      const person = await fixture.waiting(at);
      statuses.push((await person.post("/users/second_factor", { code: wrongCode })).status);
      await person.post("/users/sign_out");
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429]);
  });
});

describe("TOTP reuse", () => {
  test("of many sessions that give one code at once, one comes in", async () => {
    const fixture = await open();
    const people = await Promise.all([1, 2, 3, 4, 5, 6].map((at) => fixture.waiting(at)));
    const code = fixture.ownedPushes.app.code();
    const answers = await Promise.all(people.map((person) => person.post("/users/second_factor", { code })));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  test("a code that signed in removes no factor and makes no backup codes", async () => {
    const fixture = await open();
    const code = fixture.ownedPushes.app.code();
    const person = await fixture.waiting(1);
    expect((await person.post("/users/second_factor", { code })).status).toBe(303);
    for (const path of ["authenticator_app/remove", "backup_codes"]) {
      expect([path, (await person.post(`/users/factors/${path}`, { proof: code })).status]).toEqual([path, 422]);
    }
  });

  test("an earlier code counts no more once a later one was used", async () => {
    const fixture = await open();
    const early = fixture.ownedPushes.app.code();
    fixture.advance(minuteMs / 2);
    const late = fixture.ownedPushes.app.code();
    expect((await (await fixture.waiting(1)).post("/users/second_factor", { code: late })).status).toBe(303);
    expect((await (await fixture.waiting(2)).post("/users/second_factor", { code: early })).status).toBe(401);
  });
});

describe("backup code reuse", () => {
  test("of many sessions that give one code at once, one comes in", async () => {
    const fixture = await open();
    const people = await Promise.all([1, 2, 3, 4, 5, 6].map((at) => fixture.waiting(at)));
    const given = { backup_code: fixture.ownedPushes.backupCodes[3] ?? "" };
    const answers = await Promise.all(people.map((person) => person.post("/users/second_factor", given)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  test("a code that signed in is no proof for a change, and one that proved a change signs nobody in", async () => {
    const fixture = await open();
    const [one = "", two = ""] = fixture.ownedPushes.backupCodes;
    const person = await fixture.waiting(1);
    expect((await person.post("/users/second_factor", { backup_code: one })).status).toBe(303);
    expect((await person.post("/users/factors/authenticator_app/remove", { proof: one })).status).toBe(422);
    const remove = `/users/factors/passkeys/${fixture.ownedPushes.ids.passkey[0]}/remove`;
    expect((await person.post(remove, { proof: two })).status).toBe(303);
    expect((await (await fixture.waiting(2)).post("/users/second_factor", { backup_code: two })).status).toBe(401);
  });
});
