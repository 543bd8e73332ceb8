import { expect, onTestFinished, test } from "vitest";
import type { Accounts, ClientContext } from "../../src/accounts/accounts.ts";
import { password } from "../support/app.ts";
import { makeDataDir, openTestDomain } from "../support/domain.ts";
import { roundsOf } from "../support/rounds.ts";

const rounds = roundsOf(12);
const client: ClientContext = { throttleKey: "192.0.2.7", address: "192.0.2.7", userAgent: "test" };
const shell = { userId: null, email: "shell", address: "" };

/** The accounts of one instance, as two of its processes see them. */
async function openTwo(): Promise<readonly [Accounts, Accounts]> {
  const dataDir = makeDataDir();
  const open = async () => {
    const fixture = await openTestDomain({ dataDir });
    onTestFinished(() => fixture[Symbol.asyncDispose]());
    return fixture.domain.accounts;
  };
  return [await open(), await open()];
}

test("when two administrators remove each other through two processes, one remains", async () => {
  const [here, there] = await openTwo();
  const ada = await here.createUser({ email: "ada@example.com", password, admin: true });
  const eve = await here.createUser({ email: "eve@example.com", password, admin: true });
  for (let round = 0; round < rounds; round += 1) {
    const changes = await Promise.all([
      round % 2 === 0 ? here.setAdmin(ada.id, false, shell) : here.setDisabled(ada.id, true, shell),
      there.setAdmin(eve.id, false, shell),
    ]);
    expect(changes.map(({ outcome }) => outcome).sort()).toEqual(["done", "last_admin"]);
    for (const { id } of [ada, eve]) {
      await here.setAdmin(id, true, shell);
      await there.setDisabled(id, false, shell);
    }
  }
});

test("concurrent sign-ups with one email address through two processes create one account", async () => {
  const [here, there] = await openTwo();
  for (let round = 0; round < rounds; round += 1) {
    const wish = { email: `user${round}@example.com`, password, admin: false };
    const made = await Promise.allSettled([here.createUser(wish), there.createUser(wish)]);
    expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  }
  const ids = (await here.searchUsers("", 1)).map(({ user }) => user.id);
  expect(new Set(ids).size).toBe(rounds);
});

test("one of many concurrent requests with the boot code through two processes creates the administrator", async () => {
  const [here, there] = await openTwo();
  const codes = await Promise.all([here.openFirstRun(), there.openFirstRun()]);
  const racers = Array.from({ length: 10 }, (_, racer) =>
    (racer % 2 === 0 ? here : there).createFirstAdministrator({
      // Each process accepts the code of the other one.
      bootCode: codes[racer % 3 === 0 ? 0 : 1] ?? "",
      email: `racer${racer}@example.com`,
      password,
      client: { ...client, throttleKey: `192.0.2.${racer}` },
    }),
  );
  const outcomes = (await Promise.all(racers)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === "made")).toHaveLength(1);
  expect(await here.searchUsers("", 1)).toHaveLength(1);
});

test("after a password change in one process, another refuses the old password", async () => {
  const [here, there] = await openTwo();
  const ada = await here.createUser({ email: "ada@example.com", password, admin: false });
  let current = password;
  for (let round = 0; round < rounds; round += 1) {
    const next = `a new long password ${round}`;
    const signIns = Array.from({ length: 4 }, (_, at) => {
      const from = { ...client, throttleKey: `192.0.2.${round * 4 + at}` };
      return (at % 2 === 0 ? here : there).signIn({ email: ada.email, password: current, client: from });
    });
    const [changed, ...entered] = await Promise.all([there.setPassword(ada.id, next), ...signIns]);
    expect(changed).toBe("changed");
    for (const signedIn of entered) {
      expect(await here.authenticateSession(signedIn?.sessionToken ?? "")).toBeUndefined();
    }
    current = next;
  }
});

test("concurrent sign-ins through two processes never exceed the session limit of a user", async () => {
  const [here, there] = await openTwo();
  const ada = await here.createUser({ email: "ada@example.com", password, admin: false });
  const signIn = async (at: number) => {
    const accounts = at % 2 === 0 ? here : there;
    const from = { ...client, throttleKey: `192.0.2.${at}` };
    const signedIn = await accounts.signIn({ email: ada.email, password, client: from });
    return signedIn?.sessionToken ?? "";
  };
  const tokens: string[] = [];
  // Each process refuses sign-ins that would wait longer than two seconds for their password to be hashed.
  for (let at = 0; at < 60; at += 20) {
    tokens.push(...(await Promise.all(Array.from({ length: 20 }, (_, nth) => signIn(at + nth)))));
  }
  expect(new Set(tokens).size).toBe(60);
  const sessions = await there.listSessions(ada.id);
  expect(sessions).toHaveLength(50);
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(50);
});
