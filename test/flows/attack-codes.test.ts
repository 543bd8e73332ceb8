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
  /** Signs in with the owner's password from address number `at`. The session waits for the second factor. */
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

/** The key of another authenticator app, as the page shows it. */
async function offered({ person }: OwnedPushes) {
  const { body } = await person.get("/users/factors/authenticator_app");
  const setUp = /name="set_up" value="([^"]*)"/.exec(body)?.[1] ?? "";
  return { setUp, key: /<output[^>]*>([A-Z2-7 ]+)<\/output>/.exec(body)?.[1] ?? "" };
}

/** Each way to try a code. `at` numbers the client's address. */
const attempts: Readonly<Record<string, (fixture: Fixture, at: number) => Promise<() => Promise<Answer>>>> = {
  "codes at the challenge": async (fixture, at) => {
    const person = await fixture.waiting(at);
    return () => person.post("/users/second_factor", { code: wrongCode });
  },
  "backup codes at the challenge": async (fixture, at) => {
    const person = await fixture.waiting(at);
    return () => person.post("/users/second_factor", { backup_code: wrongBackupCode });
  },
  "codes of a new app": async ({ ownedPushes }) => {
    const { setUp } = await offered(ownedPushes);
    const fields = { set_up: setUp, code: wrongCode, proof: password };
    return () => ownedPushes.person.post("/users/factors/authenticator_app", fields);
  },
  "proofs for a new app": async ({ ownedPushes, now }) => {
    const { setUp, key } = await offered(ownedPushes);
    const fields = { set_up: setUp, code: appFor(key, now).code(), proof: wrongCode };
    return () => ownedPushes.person.post("/users/factors/authenticator_app", fields);
  },
  "proofs for removing the app": async ({ ownedPushes }) => {
    return () => ownedPushes.person.post("/users/factors/authenticator_app/remove", { proof: wrongCode });
  },
  "proofs for removing a passkey": async ({ ownedPushes }) => {
    const path = `/users/factors/passkeys/${ownedPushes.ids.passkey[0]}/remove`;
    return () => ownedPushes.person.post(path, { proof: wrongBackupCode });
  },
  "proofs for a new passkey": async ({ ownedPushes }) => {
    const { body } = await ownedPushes.person.post("/users/factors/passkeys/options");
    const passkey = new TestAuthenticator().create(JSON.parse(body));
    return () => ownedPushes.person.post("/users/factors/passkeys", { name: "x", passkey, proof: wrongCode });
  },
  "proofs for new backup codes": async ({ ownedPushes }) => {
    return () => ownedPushes.person.post("/users/factors/backup_codes", { proof: wrongBackupCode });
  },
};

describe("brute force of second-factor codes", () => {
  test.each(Object.keys(attempts))(
    "%s are refused after ten tries, from any number of sessions and addresses at once",
    async (name) => {
      const fixture = await open();
      const tries: (() => Promise<Answer>)[] = [];
      for (let at = 1; at <= 14; at += 1) {
        const attempt = await attempts[name]?.(fixture, at);
        if (attempt !== undefined) tries.push(attempt);
      }
      const answers = await Promise.all(tries.map((attempt) => attempt()));
      const tried = answers.filter(({ status }) => status === 401 || status === 422);
      const refused = answers.filter(({ status }) => status === 429);
      expect([tried.length, refused.length]).toEqual([10, 4]);
      for (const { headers } of refused) expect(Number(headers["retry-after"])).toBeGreaterThan(0);

      // Every other way is refused too, also with the right code.
      for (const [other, attempt] of Object.entries(attempts)) {
        expect([other, (await (await attempt(fixture, 99))()).status]).toEqual([other, 429]);
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

  test("signing in again, the right password and signing out do not reset the count of tries", async () => {
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

describe("reuse of a TOTP code", () => {
  test("one of several concurrent sessions with the same code is signed in", async () => {
    const fixture = await open();
    const people = await Promise.all([1, 2, 3, 4, 5, 6].map((at) => fixture.waiting(at)));
    const code = fixture.ownedPushes.app.code();
    const answers = await Promise.all(people.map((person) => person.post("/users/second_factor", { code })));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  test("a code that was used to sign in is refused as proof for removing a factor or creating backup codes", async () => {
    const fixture = await open();
    const code = fixture.ownedPushes.app.code();
    const person = await fixture.waiting(1);
    expect((await person.post("/users/second_factor", { code })).status).toBe(303);
    for (const path of ["authenticator_app/remove", "backup_codes"]) {
      expect([path, (await person.post(`/users/factors/${path}`, { proof: code })).status]).toEqual([path, 422]);
    }
  });

  test("an earlier code is refused after a later one was used", async () => {
    const fixture = await open();
    const early = fixture.ownedPushes.app.code();
    fixture.advance(minuteMs / 2);
    const late = fixture.ownedPushes.app.code();
    expect((await (await fixture.waiting(1)).post("/users/second_factor", { code: late })).status).toBe(303);
    expect((await (await fixture.waiting(2)).post("/users/second_factor", { code: early })).status).toBe(401);
  });
});

describe("reuse of a backup code", () => {
  test("one of several concurrent sessions with the same code is signed in", async () => {
    const fixture = await open();
    const people = await Promise.all([1, 2, 3, 4, 5, 6].map((at) => fixture.waiting(at)));
    const given = { backup_code: fixture.ownedPushes.backupCodes[3] ?? "" };
    const answers = await Promise.all(people.map((person) => person.post("/users/second_factor", given)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  test("a code that was used to sign in is refused as proof for a change, and the reverse", async () => {
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
