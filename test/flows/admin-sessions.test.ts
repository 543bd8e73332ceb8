import { expect, test } from "vitest";
import { sessions } from "../../src/accounts/store/tables.ts";
import { dayMs, hourMs, minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { accessOf } from "../support/access-rows.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { changeRows } from "../support/engine-database.ts";
import { addApp, client, signInAs } from "../support/factors.ts";
import { startSignOnApp } from "../support/sign-on.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const text = en.admin.sessionsPage;
const path = "/admin/sessions";
const edge =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML) Chrome/140.0.0.0 Safari/537.36 Edg/140.0";

async function open(environment: Readonly<Record<string, string>> = {}) {
  const fixture = await startTestApp({ environment });
  const root = await signInClient(fixture, "root@example.com", { join: true, admin: true });
  return { fixture, root, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

/** The numbers of the sessions that a page lists, in its order. */
function idsIn(html: string): readonly number[] {
  return [...html.matchAll(/name="session\[\]" value="(\d+)"/g)].map(([, id]) => Number(id));
}

async function listed(root: SignedInClient, query = ""): Promise<readonly number[]> {
  const { status, body } = await root.get(path + query);
  expect(status).toBe(200);
  return idsIn(body);
}

async function idOf({ app }: TestApp, email: string): Promise<number> {
  const { accounts } = app.domain;
  const user = await accounts.findUserByEmail(email);
  return (await accounts.listSessions(user?.id ?? 0))[0]?.id ?? 0;
}

/** Several boxes have the same name. */
async function endAll({ server }: TestApp, { cookie }: SignedInClient, ids: readonly number[], next = "") {
  const body = new URLSearchParams([...ids.map((id) => ["session[]", String(id)]), ["next", next]]);
  return await server.inject({
    method: "POST",
    url: `${path}/end`,
    remoteAddress: "192.0.2.7",
    headers: {
      cookie: cookie(),
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded",
    },
    payload: body.toString(),
  });
}

async function trailOf({ app }: TestApp): Promise<readonly string[]> {
  const entries = await app.domain.accounts.listAdminEntries(1);
  return entries.map(({ action, subject, adminEmail }) => `${adminEmail}: ${action} ${subject}`);
}

/** Sessions with valid MACs, each seen a millisecond after the one before. @returns their ids, last seen first. */
async function insertSessions({ app, clock }: TestApp, email: string, count: number): Promise<readonly number[]> {
  const { accounts, db } = app.domain;
  const access = accessOf(app.domain);
  const userId = (await accounts.findUserByEmail(email))?.id ?? 0;
  const insert = sessions.insertion();
  const none = { provedAt: null, adminUntil: null, providerSid: null, providerSubject: null, providerIssuedAt: null };
  const shown = { address: "198.51.100.7", userAgent: "many/1.0", waitsForFactor: false };
  const ids = Array.from({ length: count }, (_, at) => 1_000 + at);
  await db.write(async (tx) => {
    for (const id of ids) {
      const digest = Buffer.alloc(32);
      digest.writeUInt32BE(id);
      const seenAt = clock.now() - hourMs + id;
      const row = {
        digest,
        id,
        userId,
        way: "here" as const,
        createdAt: seenAt,
        seenAt,
        persistent: id % 2 === 0,
        ...shown,
        ...none,
      };
      await insert(tx, access, row);
    }
  });
  return ids.reverse();
}

test("an administrator sees who is signed in where, and ends chosen sessions; each user's end is in the trail", async () => {
  await using opened = await open();
  const { fixture, root } = opened;
  const eve = await signInClient(fixture, "eve@example.com", { join: true, userAgent: edge, address: "198.51.100.9" });
  const eveAgain = await signInClient(fixture, "eve@example.com");
  const bob = await signInClient(fixture, "bob@example.com", { join: true });
  const { body } = await root.get(path);
  for (const shown of ["eve@example.com", "bob@example.com", "198.51.100.9", "Microsoft Edge on Windows"])
    expect(body).toContain(shown);
  expect((await root.get("/admin")).body).toContain(`href="${path}"`);
  const eves = await listed(root, "?email=eve@");
  expect(eves).toHaveLength(2);
  const done = await endAll(fixture, root, [...eves, await idOf(fixture, "bob@example.com"), 9_999], `${path}?place=x`);
  expect([done.statusCode, done.headers.location]).toEqual([303, `${path}?place=x`]);
  for (const person of [eve, eveAgain, bob]) expect((await person.get("/users/edit")).status).toBe(303);
  expect(await trailOf(fixture)).toEqual([
    "root@example.com: ended_some_sessions bob@example.com (1)",
    "root@example.com: ended_some_sessions eve@example.com (2)",
  ]);
  expect((await root.get("/admin/trail")).body).toContain("Signed eve@example.com (2) out of chosen sessions");
});

test("the list is filtered by address, by browser and network address as they are shown, and by the last activity", async () => {
  await using opened = await open();
  const { fixture, root } = opened;
  await signInClient(fixture, "eve@example.com", { join: true, userAgent: edge, address: "198.51.100.9" });
  await signInClient(fixture, "bob@example.com", { join: true });
  const [eve, bob] = [await idOf(fixture, "eve@example.com"), await idOf(fixture, "bob@example.com")];
  const own = await idOf(fixture, "root@example.com");
  expect(await listed(root, "?email=EVE@")).toEqual([eve]);
  expect(await listed(root, "?place=edge%20on%20windows")).toEqual([eve]);
  expect(await listed(root, "?place=198.51.")).toEqual([eve]);
  expect([...(await listed(root, "?place=firefox"))].sort()).toEqual([own, bob].sort());
  // Both names are in the user agent, and neither is shown.
  expect(await listed(root, "?place=safari")).toEqual([]);
  expect((await root.get(`${path}?email=nobody`)).body).toContain(text.none);
  const { db } = fixture.app.domain;
  const seen = (id: number, ago: number) =>
    changeRows(db, "UPDATE sessions SET seen_at = ? WHERE id = ?", fixture.clock.now() - ago, id);
  await seen(eve, hourMs + minuteMs);
  await seen(bob, 30 * minuteMs);
  fixture.clock.advance(1);
  expect(await listed(root, "?seen=hour&email=example.com")).toEqual([own, bob]);
  expect(await listed(root, "?seen=day")).toEqual([own, bob, eve]);
  expect(await listed(root, "?seen=older")).toEqual([]);
  // Invalid values count as absent.
  expect(await listed(root, "?seen=x&way=x&after=x&place=&email=%00")).toEqual([]);
  expect(await listed(root, "?seen=x&way=x&after=-1")).toEqual([own, bob, eve]);
});

test("sessions that have ended are not listed, nor rows that this server did not write", async () => {
  await using opened = await open({ PWP__LOGIN_SESSION_TIMEOUT: "10.days" });
  const { fixture, root } = opened;
  await signInClient(fixture, "eve@example.com", { join: true });
  const [eve, own] = [await idOf(fixture, "eve@example.com"), await idOf(fixture, "root@example.com")];
  const { db } = fixture.app.domain;
  const seen = (days: number) =>
    changeRows(db, "UPDATE sessions SET seen_at = ? WHERE id = ?", fixture.clock.now() - days * dayMs, eve);
  await seen(8);
  expect(await listed(root, "?seen=older")).toEqual([eve]);
  await seen(11);
  expect(await listed(root)).toEqual([own]);
  await seen(1);
  expect(await listed(root)).toEqual([own, eve]);
  await changeRows(db, "UPDATE sessions SET created_at = created_at + 1 WHERE id = ?", eve);
  expect(await listed(root)).toEqual([own]);
  // Nobody is signed in with it, so there is nothing to end.
  await endAll(fixture, root, [eve]);
  expect(await trailOf(fixture)).toEqual([]);
});

test("an administrator who ends the own session is signed out", async () => {
  await using opened = await open();
  const { fixture, root } = opened;
  const own = await idOf(fixture, "root@example.com");
  expect((await root.get(path)).body).toContain(en.profile.sessions.current);
  expect((await endAll(fixture, root, [own], "https://evil.example/")).headers.location).toBe("/");
  expect((await root.get(path)).location).toContain("/users/sign_in");
});

test("nothing selected ends nothing, and leads back only to addresses of this server", async () => {
  await using opened = await open();
  const { fixture, root } = opened;
  const answer = await endAll(fixture, root, [], "https://evil.example/");
  expect([answer.statusCode, answer.headers.location]).toEqual([303, path]);
  expect(await trailOf(fixture)).toEqual([]);
});

test("where there is a provider, the list says who signed in through it, and is filtered by it", async () => {
  const { app, provider, ...site } = await startSignOnApp();
  provider.people.set("b-1", { email: "bob@example.com", email_verified: true });
  await site.signOn(site.newVisitor(), "b-1");
  const root = await signInClient(app, "ada@example.com");
  const [bob, own] = [await idOf(app, "bob@example.com"), await idOf(app, "ada@example.com")];
  expect((await root.get(path)).body).toContain(text.ways.sign_on);
  expect(await listed(root, "?way=sign_on")).toEqual([bob]);
  expect(await listed(root, "?way=here")).toEqual([own]);
});

test("a session that began with a break-glass link is named as such, also after the second factor and without a provider", async () => {
  await using opened = await open();
  const { fixture, root } = opened;
  const { accounts } = fixture.app.domain;
  const { id, email } = await accounts.createUser({ email: "eve@example.com", password, admin: true });
  const factors = { accounts, now: () => fixture.clock.now(), advance: (ms: number) => fixture.clock.advance(ms) };
  const { app } = await addApp(factors, (await signInAs(factors, email, password)).session, password);
  const withPassword = await idOf(fixture, email);
  expect((await root.get(path)).body).not.toContain(text.ways.here);
  const made = await accounts.makeBreakGlassLink(id, { userId: null, email: "shell", address: "" });
  const entered = await accounts.enterByBreakGlass(made.outcome === "made" ? made.token : "", client);
  const sessionToken = entered?.sessionToken ?? "";
  const session = await accounts.authenticateSession(sessionToken);
  if (session?.waitsForFactor !== true) throw new Error("The session does not wait for its factor.");
  const given = await accounts.giveCode({ session, sessionToken, client }, app.code());
  expect(given.outcome).toBe("complete");
  expect((await root.get(path)).body).toContain(text.ways.break_glass);
  expect(await listed(root, "?way=break_glass")).toEqual([await idOf(fixture, email)]);
  expect(await listed(root, "?way=here&email=eve")).toEqual([withPassword]);
});

test("ten thousand sessions are listed page by page without a gap", async () => {
  await using opened = await open();
  const { fixture, root } = opened;
  await fixture.app.domain.accounts.createUser({ email: "eve@example.com", password: null, admin: false });
  const ids = await insertSessions(fixture, "eve@example.com", 10_000);
  let address = `${path}?email=eve`;
  const found: number[] = [];
  for (let pages = 0; pages < 3; pages += 1) {
    const { body } = await root.get(address);
    found.push(...idsIn(body));
    address = /href="(\/admin\/sessions\?[^"]*after=[^"]*)"/.exec(body)?.[1]?.replaceAll("&amp;", "&") ?? "";
  }
  expect(found).toEqual(ids.slice(0, 150));
  // A search in the browsers' names stops early, and goes on where it stopped.
  const searched = (await root.get(`${path}?place=no%20such%20browser`)).body;
  expect([idsIn(searched), /after=\d+-9\d{3}"/.test(searched)]).toEqual([[], true]);
  const last = `${path}?after=${fixture.clock.now() - hourMs + 1_001}-1001`;
  expect(await listed(root, last.slice(path.length))).toEqual([1_000]);
});
