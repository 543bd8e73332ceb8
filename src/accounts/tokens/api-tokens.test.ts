import { describe, expect, it } from "vitest";
import {
  makeTestAccounts,
  makeUser,
  password,
  startOfTests,
  type TestAccounts,
  untilUsed,
} from "../../../test/support/accounts.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { createRecordingOutbox } from "../../../test/support/recording-outbox.ts";
import { dayMs, minuteMs } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { apiTokens } from "../store/tables.ts";
import type { TokenLimits } from "./api-tokens.ts";

const address = "192.0.2.1";

/** Adds tokens directly, without the time that creating each one takes. */
async function fill(db: Database, userId: number, tokens: number): Promise<void> {
  const insert = (digestOf: string) =>
    `WITH RECURSIVE numbers (number) AS
       (SELECT CAST(1000 AS BIGINT) UNION ALL SELECT number + 1 FROM numbers WHERE number < 1000 + ? - 1)
     INSERT INTO api_tokens (id, user_id, name, digest, scopes, created_at)
     SELECT number, CAST(? AS BIGINT), 'n', ${digestOf}, 'create', 0 FROM numbers`;
  const text = { sqlite: insert("CAST(number AS BLOB)"), postgres: insert("int8send(number)") };
  expect(await changeRows(db, text, tokens, userId)).toBe(tokens);
}

/** As this server does, with a valid MAC. */
function setColumn(
  { db, access }: Pick<TestAccounts, "db" | "access">,
  { id }: { readonly id: number },
  change: Parameters<typeof apiTokens.change>[3],
): Promise<boolean> {
  return db.writeSerialized("accounts", (tx) => apiTokens.change(tx, access, id, change));
}

describe("API tokens", () => {
  it("authenticate their user until they are revoked", async () => {
    const { accounts, advance } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { token, apiToken } = await accounts.createToken(ada.id, "  deploy  ");
    expect(token).toMatch(/^sp_[A-Za-z0-9_-]{43}$/);
    expect(apiToken).toEqual({
      id: 1,
      name: "deploy",
      scopes: ["create", "read", "edit", "expire"],
      expiresAt: null,
      networks: [],
      createdAt: startOfTests,
      lastUsedAt: null,
      lastUsedAddress: null,
      revokedAt: null,
    });
    expect(await accounts.authenticateToken({ token, address })).toMatchObject({ user: ada });
    advance(1);
    expect(await accounts.revokeToken(ada.id, apiToken.id)).toBe(true);
    expect(await accounts.authenticateToken({ token, address })).toBeUndefined();
    expect(await accounts.revokeToken(ada.id, apiToken.id)).toBe(false);
    // No request waits until its use is recorded.
    await expect
      .poll(() => accounts.listTokens(ada.id))
      .toEqual([{ ...apiToken, lastUsedAt: startOfTests, lastUsedAddress: address, revokedAt: startOfTests + 1 }]);
  });

  it("are only revoked and listed by their own user, newest first", async () => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const eve = await makeUser(accounts, "eve@example.com");
    const first = await accounts.createToken(ada.id, "first");
    const second = await accounts.createToken(ada.id, "second");
    expect(await accounts.revokeToken(eve.id, first.apiToken.id)).toBe(false);
    expect(await accounts.revokeToken(ada.id, Number.NaN)).toBe(false);
    expect(await accounts.listTokens(ada.id)).toEqual([second.apiToken, first.apiToken]);
    expect(await accounts.listTokens(eve.id)).toEqual([]);
    expect(await accounts.authenticateToken({ token: first.token, address })).toMatchObject({ user: ada });
  });

  it("are stored as digests that nobody else can compute", async () => {
    const { accounts, access, db } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { token } = await accounts.createToken(ada.id, "n");
    const [row] = await readRows(db, "SELECT * FROM api_tokens");
    expect(row?.digest).toEqual(access.digest("api_token", token));
    expect(JSON.stringify(row)).not.toContain(token);
  });

  it.each(["", "sp_", `sp_${"a".repeat(43)}`, `${"a".repeat(46)}`, "a".repeat(1_000_000)])(
    "are not guessed: wrong token %#",
    async (token) => {
      const { accounts } = makeTestAccounts();
      const ada = await makeUser(accounts);
      await accounts.createToken(ada.id, "n");
      expect(await accounts.authenticateToken({ token, address })).toBeUndefined();
    },
  );

  it("in other servers' formats are looked up; longer strings are not", async () => {
    const { accounts, access, db } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { apiToken } = await accounts.createToken(ada.id, "n");
    const imported = "hTz_-4567890abcdefgh";
    const setToken = (token: string) =>
      setColumn({ db, access }, apiToken, { digest: access.digest("api_token", token) });
    await setToken(imported);
    expect(await accounts.authenticateToken({ token: imported, address })).toMatchObject({ user: ada });
    for (const token of [`${imported} `, `${imported}=`, imported.repeat(4)]) {
      await setToken(token);
      expect(await accounts.authenticateToken({ token, address })).toBeUndefined();
    }
  });

  it("have the scopes they were created with, and no unknown ones", async () => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { token, apiToken } = await accounts.createToken(ada.id, "n", { scopes: ["read", "create", "read"] });
    const scopes = async () => (await accounts.authenticateToken({ token, address }))?.scopes;
    expect(apiToken.scopes).toEqual(["create", "read"]);
    expect(await scopes()).toEqual(["create", "read"]);
    expect(apiTokens.column("scopes").decode("admin toString create")).toEqual(["create"]);
  });

  it("are refused from the moment they expire, and then no longer count as in use", async () => {
    const { accounts, advance, db } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { token, apiToken } = await accounts.createToken(ada.id, "n", { expiresInDays: 30 });
    expect(apiToken.expiresAt).toBe(startOfTests + 30 * dayMs);
    advance(30 * dayMs - 1);
    expect(await accounts.authenticateToken({ token, address })).toMatchObject({ user: ada });
    advance(1);
    expect(await accounts.authenticateToken({ token, address })).toBeUndefined();
    await fill(db, ada.id, 999);
    await accounts.createToken(ada.id, "replaces the expired one");
    await expect(accounts.createToken(ada.id, "n")).rejects.toMatchObject({ code: "invalid_fields" });
    expect(await readRows(db, "SELECT id FROM api_tokens")).toHaveLength(1_001);
  });

  it.each<[string, string, boolean]>([
    ["192.0.2.0/24", "192.0.2.77", true],
    ["192.0.2.0/24", "192.0.3.1", false],
    ["::ffff:192.0.2.0/120", "192.0.2.77", true],
    ["192.0.2.77", "::ffff:192.0.2.77", true],
    ["2001:db8::/32", "2001:db8::1", true],
    ["2001:db8::/32", "192.0.2.77", false],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["192.0.2.1", "", false],
    ["192.0.2.1", "nonsense", false],
  ])("of the network %s, from %j: %s", async (network, from, works) => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { token } = await accounts.createToken(ada.id, "n", { networks: ["198.51.100.9", network] });
    expect((await accounts.authenticateToken({ token, address: from })) !== undefined).toBe(works);
  });

  it("store each network once and in its shortest form", async () => {
    const { accounts, access, db } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const networks = ["10.1.2.3/8", "10.0.0.0/8", "::ffff:10.0.0.0/104", "2001:DB8::0/32", "192.0.2.1/32"];
    const { token, apiToken } = await accounts.createToken(ada.id, "n", { networks });
    expect(apiToken.networks).toEqual(["10.0.0.0/8", "2001:db8::/32", "192.0.2.1"]);
    await setColumn({ db, access }, apiToken, { networks: ["nonsense"] });
    expect(await accounts.authenticateToken({ token, address })).toBeUndefined();
  });

  it.each<[string, TokenLimits]>([
    ["scopes", { scopes: [] }],
    ["expiresInDays", { expiresInDays: 0 }],
    ["expiresInDays", { expiresInDays: 3_651 }],
    ["expiresInDays", { expiresInDays: 1.5 }],
    ["expiresInDays", { expiresInDays: Number.NaN }],
    ["expiresInDays", { expiresInDays: Number.POSITIVE_INFINITY }],
    ["networks", { networks: ["10.0.0.0/8", "ten"] }],
    ["networks", { networks: [""] }],
    ["networks", { networks: Array.from({ length: 51 }, (_, at) => `192.0.2.${at}`) }],
  ])("report invalid %s: case %#", async (field, limits) => {
    const { accounts } = makeTestAccounts();
    const ada = await makeUser(accounts);
    await expect(accounts.createToken(ada.id, "n", limits)).rejects.toMatchObject({
      code: "invalid_fields",
      fields: { [field]: [expect.any(String)] },
    });
    expect(await accounts.listTokens(ada.id)).toEqual([]);
  });

  it("cause one email when created and one when revoked, and none for failed requests", async () => {
    const { outbox, emails } = createRecordingOutbox();
    const { accounts } = makeTestAccounts({ outbox });
    const ada = await makeUser(accounts);
    const client = { address: "192.0.2.9", userAgent: "Firefox" };
    const signedIn = await accounts.signIn({ email: ada.email, password, client: { ...client, throttleKey: "" } });
    const session = await accounts.authenticateSession(signedIn?.sessionToken ?? "");
    if (session === undefined) throw new Error("Nobody is signed in.");
    const before = emails.length;
    const asked = { session, client: { ...client, throttleKey: "" }, proof: { typed: "", passkey: null } };
    const made = await accounts.createOwnToken(asked, " deploy ", {});
    if (made.outcome !== "made") throw new Error(made.outcome);
    const { apiToken, token } = made;
    await expect(accounts.createOwnToken(asked, "", {})).rejects.toMatchObject({ code: "invalid_fields" });
    await accounts.revokeToken(999, apiToken.id, client);
    await accounts.revokeToken(ada.id, apiToken.id);
    await accounts.revokeToken(ada.id, apiToken.id, client);
    const content = { kind: "account_notification", subject: "deploy", at: startOfTests };
    expect(emails.slice(before)).toEqual([
      { to: ada.email, language: null, content: { ...content, change: "token_made", ...client } },
      { to: ada.email, language: null, content: { ...content, change: "token_revoked", address: "", userAgent: "" } },
    ]);
    expect(JSON.stringify(emails)).not.toContain(token);
  });

  it.each(["", "   ", "a".repeat(256), "two\nlines", "\ud800", "gpj\u202eexe"])(
    "refuse a bad name: case %#",
    async (name) => {
      const { accounts } = makeTestAccounts();
      const ada = await makeUser(accounts);
      await expect(accounts.createToken(ada.id, name)).rejects.toMatchObject({
        code: "invalid_fields",
        fields: { name: [expect.stringContaining("1 to 255 characters")] },
      });
    },
  );

  it("are limited in number, both those in use and revoked ones", async () => {
    const { accounts, db } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const make = () => accounts.createToken(ada.id, "n");
    const { apiToken: first } = await make();
    await fill(db, ada.id, 999);
    await expect(make()).rejects.toMatchObject({ fields: { tokens: ["1000 tokens are in use: revoke one first."] } });
    await changeRows(db, "UPDATE api_tokens SET revoked_at = created_at WHERE id <> ?", first.id);
    await accounts.revokeToken(ada.id, first.id);
    const next = await make();
    await accounts.revokeToken(ada.id, next.apiToken.id);
    await make();
    const listed = await accounts.listTokens(ada.id);
    expect(listed).toHaveLength(201);
    expect(listed.map((token) => token.id)).not.toContain(first.id);
  });

  it("are listed in pages of fifty, those in use first", async () => {
    const { accounts, advance } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const eve = await makeUser(accounts, "eve@example.com");
    await accounts.createToken(eve.id, "another's");
    const short = await accounts.createToken(ada.id, "short", { expiresInDays: 1 });
    const made = await Promise.all(Array.from({ length: 101 }, () => accounts.createToken(ada.id, "n")));
    const ids = made.map(({ apiToken }) => apiToken.id).sort((a, b) => b - a);
    const [newest = 0] = ids;
    await accounts.revokeToken(ada.id, newest);
    advance(dayMs);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => accounts.listTokenPage(ada.id, page)));
    expect(pages.map(({ tokens, hasMore }) => [tokens.length, hasMore])).toEqual([
      [50, true],
      [50, true],
      [2, false],
      [0, false],
    ]);
    const shown = pages.flatMap(({ tokens }) => tokens.map(({ id }) => id));
    expect(shown).toEqual([...ids.slice(1), newest, short.apiToken.id]);
  });

  it("record their use at most once a minute, and again after the clock was set back", async () => {
    const { accounts, db, advance } = makeTestAccounts();
    const ada = await makeUser(accounts);
    const { token } = await accounts.createToken(ada.id, "n");
    await Promise.all(Array.from({ length: 100 }, () => accounts.authenticateToken({ token, address })));
    await untilUsed(db, "api_token", startOfTests);
    advance(minuteMs - 1);
    await accounts.authenticateToken({ token, address });
    advance(1);
    await accounts.authenticateToken({ token, address });
    await untilUsed(db, "api_token", startOfTests + minuteMs);
    advance(-5 * minuteMs);
    await accounts.authenticateToken({ token, address });
    await untilUsed(db, "api_token", startOfTests - 4 * minuteMs);
  });

  it("keep working when the use cannot be recorded, and the failure is reported", async () => {
    const reported: string[] = [];
    const { accounts, db } = makeTestAccounts({ onUseNotRecorded: (of) => reported.push(of) });
    const ada = await makeUser(accounts);
    const { token } = await accounts.createToken(ada.id, "n");
    await changeRows(db, {
      sqlite: "CREATE TRIGGER broken BEFORE UPDATE ON api_tokens BEGIN SELECT RAISE(ABORT, 'broken'); END",
      postgres: "ALTER TABLE api_tokens ADD CONSTRAINT broken CHECK (last_used_at IS NULL)",
    });
    for (let at = 0; at < 5; at += 1)
      expect(await accounts.authenticateToken({ token, address })).toMatchObject({ user: ada });
    await accounts.signOut("a".repeat(43));
    expect(reported).toEqual(["api_token"]);
  });
});
