import { describe, expect, it } from "vitest";
import { changeUsers } from "../../../test/support/access-rows.ts";
import {
  addUnusablePasskey,
  clientAt,
  makeTestAccounts,
  makeUser,
  openSettings,
  startOfTests,
} from "../../../test/support/accounts.ts";
import { changeRows } from "../../../test/support/engine-database.ts";
import { minuteMs } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { createSessionStore } from "../store/sessions.ts";
import { createSessionStarts } from "./sessions.ts";

/** One user with a second factor, and `createSessionStarts` with a stub of the known clients. */
async function makeFixture() {
  const fixture = makeTestAccounts();
  const ada = await makeUser(fixture.accounts);
  await addUnusablePasskey(fixture, ada);
  const noted: number[] = [];
  const startsWhere = (settings: Parameters<typeof createSessionStarts>[0]["settings"]) =>
    createSessionStarts({
      store: createSessionStore(fixture.db, fixture.access),
      knownClients: { note: async (_tx, user) => void noted.push(user.id) },
      random: systemRandom,
      access: fixture.access,
      settings,
    });
  const starts = startsWhere({ signOnOnly: false });
  const waiting = (await starts.start(ada, clientAt("c"), startOfTests)) ?? "";
  return { ...fixture, ada, starts, startsWhere, noted, waiting, client: clientAt("c") };
}

describe("the start of a session", () => {
  it("sets the time of the last sign-in only when it is complete", async () => {
    const { accounts, ada, starts, waiting, client } = await makeFixture();
    const lastSignIns = async () => (await accounts.searchUsers("", 1)).map(({ lastSignedInAt }) => lastSignedInAt);
    expect(await lastSignIns()).toEqual([null]);
    await starts.startComplete(ada, client, startOfTests + 5, { replacesToken: waiting, provided: async () => false });
    expect(await lastSignIns()).toEqual([null]);
    await starts.startComplete(ada, client, startOfTests + 7, { replacesToken: waiting });
    expect(await lastSignIns()).toEqual([startOfTests + 7]);
  });

  it("waits for a second factor that was added while the password was checked", async () => {
    const { accounts, waiting, noted } = await makeFixture();
    expect(await accounts.authenticateSession(waiting)).toMatchObject({ waitsForFactor: true });
    expect(noted).toEqual([]);
  });

  it("replaces the waiting session once, also with simultaneous requests", async () => {
    const { accounts, ada, starts, waiting, client, noted } = await makeFixture();
    const racers = await Promise.all(
      Array.from({ length: 20 }, () => starts.startComplete(ada, client, startOfTests, { replacesToken: waiting })),
    );
    const tokens = racers.filter((token) => token !== undefined);
    expect(tokens).toHaveLength(1);
    expect(noted).toEqual([ada.id]);
    expect(await accounts.authenticateSession(waiting)).toBeUndefined();
    expect(await accounts.authenticateSession(tokens[0] ?? "")).toMatchObject({ waitsForFactor: false });
  });

  it("replaces no session of another user, no complete one, and none that has waited too long", async () => {
    const { accounts, ada, starts, waiting, client } = await makeFixture();
    const eve = await makeUser(accounts, "eve@example.com");
    expect(await starts.startComplete(eve, client, startOfTests, { replacesToken: waiting })).toBeUndefined();
    expect(
      await starts.startComplete(ada, client, startOfTests + 10 * minuteMs, { replacesToken: waiting }),
    ).toBeUndefined();
    expect(await starts.startComplete(ada, client, startOfTests, { replacesToken: "a".repeat(43) })).toBeUndefined();
    const complete = (await starts.startComplete(ada, client, startOfTests, { replacesToken: waiting })) ?? "";
    expect(await starts.startComplete(ada, client, startOfTests, { replacesToken: complete })).toBeUndefined();
    expect(await accounts.authenticateSession(complete)).toBeDefined();
  });

  it("checks its guard in the same transaction: a refusal keeps the waiting session", async () => {
    const { accounts, ada, starts, waiting, client, noted } = await makeFixture();
    expect(
      await starts.startComplete(ada, client, startOfTests, { replacesToken: waiting, provided: async () => false }),
    ).toBeUndefined();
    expect(await accounts.authenticateSession(waiting)).toMatchObject({ waitsForFactor: true });
    expect(noted).toEqual([]);
  });

  it("ends what waits after ten minutes", async () => {
    const { accounts, waiting, advance } = await makeFixture();
    advance(10 * minuteMs - 1);
    expect(await accounts.authenticateSession(waiting)).toMatchObject({ waitsForFactor: true });
    advance(1);
    expect(await accounts.authenticateSession(waiting)).toBeUndefined();
  });

  it("that waits for a factor ends where single sign-on is the only way in", async () => {
    const { db, access, waiting } = await makeFixture();
    const { accounts } = makeTestAccounts({ db, access, settings: { ...openSettings, signOnOnly: true } });
    expect(await accounts.authenticateSession(waiting)).toBeUndefined();
  });

  it("is refused if the user was disabled or deleted since the sign-in began", async () => {
    const { accounts, access, ada, starts, client, db } = await makeFixture();
    const eve = await makeUser(accounts, "eve@example.com");
    await changeUsers({ db, access }, { disabledAt: 1 }, ada.email);
    expect(await starts.start(ada, client, startOfTests)).toBeUndefined();
    await changeRows(db, "DELETE FROM users WHERE id = ?", eve.id);
    expect(await starts.start(eve, client, startOfTests)).toBeUndefined();
  });

  it("needs a sign-on where that is the only way in", async () => {
    const { ada, startsWhere, client } = await makeFixture();
    const starts = startsWhere({ signOnOnly: true });
    expect(await starts.start(ada, client, startOfTests)).toBeUndefined();
    expect(await starts.startComplete(ada, client, startOfTests)).toBeUndefined();
    expect(await starts.start(ada, client, startOfTests, { way: "sign_on" })).toBeDefined();
  });

  it("cuts long user agents", async () => {
    const { accounts, starts } = await makeFixture();
    const eve = await makeUser(accounts, "eve@example.com");
    await starts.start(eve, { ...clientAt("c"), userAgent: "x".repeat(16_000) }, startOfTests);
    const [session] = await accounts.listSessions(eve.id);
    expect(session?.userAgent).toHaveLength(255);
  });
});
