import { describe, expect, it } from "vitest";
import { makeTestAccounts, makeUser, startOfTests } from "../../test/support/accounts.ts";
import { minuteMs } from "../base/clock.ts";
import { digest } from "../crypto/digests.ts";

describe("API tokens", () => {
  it("stand for their user until they are revoked", async () => {
    const { accounts, advance } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { token, apiToken } = await accounts.createToken(ada.id, "  deploy  ");
    expect(token).toMatch(/^sp_[A-Za-z0-9_-]{43}$/);
    expect(apiToken).toEqual({ id: 1, name: "deploy", createdAt: startOfTests, lastUsedAt: null, revokedAt: null });
    expect(await accounts.authenticateToken(token)).toEqual(ada);
    advance(1);
    expect(await accounts.revokeToken(ada.id, apiToken.id)).toBe(true);
    expect(await accounts.authenticateToken(token)).toBeUndefined();
    expect(await accounts.revokeToken(ada.id, apiToken.id)).toBe(false);
    expect(await accounts.listTokens(ada.id)).toEqual([
      { ...apiToken, lastUsedAt: startOfTests, revokedAt: startOfTests + 1 },
    ]);
  });

  it("are revoked and listed by their own user alone, newest first", async () => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const eve = await makeUser(accounts, "eve@example.com");
    const first = await accounts.createToken(ada.id, "first");
    const second = await accounts.createToken(ada.id, "second");
    expect(await accounts.revokeToken(eve.id, first.apiToken.id)).toBe(false);
    expect(await accounts.revokeToken(ada.id, Number.NaN)).toBe(false);
    expect(await accounts.listTokens(ada.id)).toEqual([second.apiToken, first.apiToken]);
    expect(await accounts.listTokens(eve.id)).toEqual([]);
    expect(await accounts.authenticateToken(first.token)).toEqual(ada);
  });

  it("are stored as digests", async () => {
    const { accounts, db } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { token } = await accounts.createToken(ada.id, "n");
    const row = db.reader.prepare<[], { digest: Buffer }>("SELECT * FROM api_tokens").get();
    expect(row?.digest).toEqual(digest(token));
    expect(JSON.stringify(row)).not.toContain(token);
  });

  it("must belong to the e-mail when one is given", async () => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    await makeUser(accounts, "eve@example.com");
    const { token } = await accounts.createToken(ada.id, "n");
    expect(await accounts.authenticateToken(token, "ADA@example.com ")).toEqual(ada);
    expect(await accounts.authenticateToken(token, "eve@example.com")).toBeUndefined();
    expect(await accounts.authenticateToken(token, "nobody@example.com")).toBeUndefined();
    expect(await accounts.authenticateToken(token, "no address")).toBeUndefined();
    expect(await accounts.authenticateToken(token, "")).toBeUndefined();
  });

  it.each(["", "sp_", `sp_${"a".repeat(43)}`, `${"a".repeat(46)}`, "a".repeat(1_000_000)])(
    "are not guessed: wrong token %#",
    async (token) => {
      const { accounts } = makeTestAccounts();
      const ada = await makeUser(accounts);
      await accounts.createToken(ada.id, "n");
      expect(await accounts.authenticateToken(token)).toBeUndefined();
    },
  );

  it.each(["", "   ", "a".repeat(256), "two\nlines", "\ud800"])("refuse a bad name: case %#", async (name) => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    await expect(accounts.createToken(ada.id, name)).rejects.toMatchObject({
      code: "invalid_fields",
      fields: { name: [expect.stringContaining("1 to 255 characters")] },
    });
  });

  it("are bounded in number, those in use and those revoked", async () => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const make = () => accounts.createToken(ada.id, "n");
    const made = await Promise.all(Array.from({ length: 200 }, make));
    await expect(make()).rejects.toMatchObject({ fields: { name: ["200 tokens are in use: revoke one first."] } });
    for (const { apiToken } of made) await accounts.revokeToken(ada.id, apiToken.id);
    const next = await make();
    await accounts.revokeToken(ada.id, next.apiToken.id);
    await make();
    const listed = await accounts.listTokens(ada.id);
    expect(listed).toHaveLength(201);
    expect(listed.map((token) => token.id)).not.toContain(1);
  });

  it("record their use at most once a minute, and again after the clock was set back", async () => {
    const { accounts, db, advance } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { token } = await accounts.createToken(ada.id, "n");
    const lastUsed = async () => {
      await accounts.revokeToken(ada.id, 999); // Settles after the use was written: one writer, in order.
      return (await accounts.listTokens(ada.id))[0]?.lastUsedAt;
    };
    const before = db.counts.units;
    await Promise.all(Array.from({ length: 100 }, () => accounts.authenticateToken(token)));
    expect(await lastUsed()).toBe(startOfTests);
    advance(minuteMs - 1);
    await accounts.authenticateToken(token);
    expect(await lastUsed()).toBe(startOfTests);
    advance(1);
    await accounts.authenticateToken(token);
    expect(await lastUsed()).toBe(startOfTests + minuteMs);
    advance(-5 * minuteMs);
    await accounts.authenticateToken(token);
    expect(await lastUsed()).toBe(startOfTests - 4 * minuteMs);
    expect(db.counts.units - before).toBe(3 + 4);
  });

  it("work on when the use cannot be recorded, and the failure is told", async () => {
    const told: string[] = [];
    const { accounts, db } = makeTestAccounts({ onUseNotRecorded: (of) => told.push(of) });
    const ada = await makeUser(accounts);
    const { token } = await accounts.createToken(ada.id, "n");
    db.writer.exec("CREATE TRIGGER broken BEFORE UPDATE ON api_tokens BEGIN SELECT RAISE(ABORT, 'broken'); END");
    for (let at = 0; at < 5; at += 1) expect(await accounts.authenticateToken(token)).toEqual(ada);
    await accounts.signOut("a".repeat(43));
    expect(told).toEqual(["api_token"]);
  });
});
