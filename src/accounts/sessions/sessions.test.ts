import { describe, expect, it } from "vitest";
import {
  clientAt,
  makeTestAccounts,
  makeUser,
  openSettings,
  password,
  startOfTests,
  untilUsed,
} from "../../../test/support/accounts.ts";
import { readRows } from "../../../test/support/engine-database.ts";
import { dayMs, minuteMs } from "../../base/clock.ts";
import type { Accounts } from "../accounts.ts";

async function startSession(accounts: Accounts, email = "ada@example.com"): Promise<string> {
  const signedIn = await accounts.signIn({ email, password, client: clientAt("c") });
  if (signedIn === undefined) throw new Error("Not signed in.");
  return signedIn.sessionToken;
}

describe("sessions", () => {
  it("are valid until sign-out, independently of each other", async () => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const [one, other] = [await startSession(accounts), await startSession(accounts)];
    expect((await accounts.authenticateSession(one))?.user).toEqual(ada);
    await accounts.signOut(one);
    await accounts.signOut(one);
    expect(await accounts.authenticateSession(one)).toBeUndefined();
    expect((await accounts.authenticateSession(other))?.user).toEqual(ada);
  });

  it("are stored as digests that nobody else can compute", async () => {
    const { accounts, access, db } = makeTestAccounts();
    await makeUser(accounts);
    const token = await startSession(accounts);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const rows = await readRows(db, "SELECT digest FROM sessions");
    expect(rows).toEqual([{ digest: access.digest("session", token) }]);
  });

  it.each(["", "x", "a".repeat(43), "a".repeat(44), "a".repeat(1_000_000), "\u0000"])(
    "are not opened by another token: case %#",
    async (token) => {
      const { accounts } = makeTestAccounts();
      await makeUser(accounts);
      await startSession(accounts);
      expect(await accounts.authenticateSession(token)).toBeUndefined();
      await accounts.signOut(token);
    },
  );

  it("end when they are idle, and stay valid while they are used", async () => {
    const { accounts, advance, db } = makeTestAccounts();
    await makeUser(accounts);
    const token = await startSession(accounts);
    for (let hours = 1; hours <= 10; hours += 1) {
      advance(60 * minuteMs);
      expect(await accounts.authenticateSession(token)).toBeDefined();
      await untilUsed(db, "session", startOfTests + hours * 60 * minuteMs);
    }
    advance(120 * minuteMs - 1);
    expect(await accounts.authenticateSession(token)).toBeDefined();
    await untilUsed(db, "session", startOfTests + 12 * 60 * minuteMs - 1);
    advance(120 * minuteMs);
    expect(await accounts.authenticateSession(token)).toBeUndefined();
  });

  it("end after their longest life even if they are used", async () => {
    const settings = { ...openSettings, sessionTimeoutSeconds: 86_400, sessionMaxSeconds: 14 * 86_400 };
    const { accounts, advance, db } = makeTestAccounts({ settings });
    await makeUser(accounts);
    const token = await startSession(accounts);
    for (let halfDays = 1; halfDays <= 27; halfDays += 1) {
      advance(dayMs / 2);
      expect(await accounts.authenticateSession(token)).toBeDefined();
      await untilUsed(db, "session", startOfTests + (halfDays * dayMs) / 2);
    }
    advance(dayMs / 2);
    expect(await accounts.authenticateSession(token)).toBeUndefined();
  });

  it("end after 90 days even if the idle timeout is as long", async () => {
    const settings = { ...openSettings, sessionTimeoutSeconds: (90 * dayMs) / 1_000 };
    const { accounts, advance, db } = makeTestAccounts({ settings });
    await makeUser(accounts);
    const token = await startSession(accounts);
    advance(60 * dayMs);
    expect(await accounts.authenticateSession(token)).toBeDefined();
    await untilUsed(db, "session", startOfTests + 60 * dayMs);
    advance(30 * dayMs - 1);
    expect(await accounts.authenticateSession(token)).toBeDefined();
    advance(1);
    expect(await accounts.authenticateSession(token)).toBeUndefined();
  });

  it("record their use at most once a minute", async () => {
    const { accounts, db, advance } = makeTestAccounts();
    await makeUser(accounts);
    const token = await startSession(accounts);
    advance(minuteMs - 1);
    await accounts.authenticateSession(token);
    advance(1);
    await accounts.authenticateSession(token);
    await untilUsed(db, "session", startOfTests + minuteMs);
    advance(minuteMs - 1);
    await accounts.authenticateSession(token);
    expect(await readRows(db, "SELECT seen_at FROM sessions")).toEqual([{ seen_at: startOfTests + minuteMs }]);
  });

  it("are at most 50 per user: the oldest end, the new one stays, other users' are untouched", async () => {
    const { accounts, advance } = makeTestAccounts();
    await makeUser(accounts);
    await makeUser(accounts, "eve@example.com");
    const eves = await startSession(accounts, "eve@example.com");
    const adas: string[] = [];
    for (let at = 0; at < 52; at += 1) {
      adas.push(await startSession(accounts));
      advance(1);
    }
    const current = await Promise.all(adas.map((token) => accounts.authenticateSession(token)));
    expect(current.map((user) => user !== undefined)).toEqual([false, false, ...Array(50).fill(true)]);
    expect(await accounts.authenticateSession(eves)).toBeDefined();
  });

  it("are removed in bounded batches after they have expired", async () => {
    const { accounts, advance } = makeTestAccounts();
    await makeUser(accounts);
    for (let at = 0; at < 5; at += 1) await startSession(accounts);
    advance(119 * minuteMs);
    const live = await startSession(accounts);
    expect(await accounts.removeExpiredSessions(3)).toBe(0);
    advance(minuteMs);
    expect(await accounts.removeExpiredSessions(3)).toBe(3);
    expect(await accounts.removeExpiredSessions(3)).toBe(2);
    expect(await accounts.removeExpiredSessions(3)).toBe(0);
    expect(await accounts.authenticateSession(live)).toBeDefined();
  });
});
