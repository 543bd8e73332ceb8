import { randomBytes } from "node:crypto";
import type { Session } from "../../src/accounts/accounts.ts";
import { createIdentityStore } from "../../src/accounts/store/identities.ts";
import { PasswordSeals } from "../../src/accounts/store/password-seals.ts";
import { systemRandom } from "../../src/base/random.ts";
import { accessOf } from "./access-rows.ts";
import { password, type TestApp } from "./app.ts";
import { Canaries } from "./canaries.ts";
import { readRows } from "./engine-database.ts";
import { type AuthenticatorApp, addApp, addPasskey, type FactorFixture } from "./factors.ts";
import { type SignedInClient, signInClient } from "./signed-in-client.ts";

/** Two pushes and the account that owns them, with one of everything an account can have. Each value contains a canary. */
export interface OwnedPushes {
  readonly canaries: Canaries;
  readonly email: string;
  readonly userId: number;
  /** A client that is signed in with `session`. */
  readonly person: SignedInClient;
  readonly session: Session;
  readonly apiToken: string;
  readonly app: AuthenticatorApp;
  readonly backupCodes: readonly string[];
  /** A text push and a file push, each with a passphrase of its own. Viewers may not delete them. */
  readonly urlTokens: readonly string[];
  readonly ids: { readonly [kind in "session" | "token" | "passkey" | "push" | "user"]: readonly number[] };
}

/** An IPv6 address without leading zeros in any group, so that it has only one spelling. */
function makeAddress(): string {
  const groups = Array.from({ length: 6 }, () => (0x1000 + (randomBytes(2).readUInt16BE() % 0xe000)).toString(16));
  return `2001:db8:${groups.join(":")}`;
}

export async function createOwnedPushes(fixture: TestApp, withFactors = true): Promise<OwnedPushes> {
  const { accounts, db } = fixture.app.domain;
  const canaries = new Canaries();
  const address = makeAddress();
  canaries.add("address", address);
  const userAgent = `Mozilla/5.0 (${canaries.makeCore("user agent")}) Firefox/140.0`;
  const email = `${canaries.makeCore("email")}@example.com`;
  const person = await signInClient(fixture, email, { join: true, address, userAgent });
  const session = await accounts.authenticateSession(person.cookie().split("=")[1] ?? "");
  if (session === undefined) throw new Error("The owner is not signed in.");
  const userId = session.user.id;
  const clocked: FactorFixture = {
    accounts,
    now: () => fixture.clock.now(),
    advance: (ms) => fixture.clock.advance(ms),
  };
  const { token: apiToken } = await accounts.createToken(userId, canaries.makeCore("API token's name"));
  const urlTokens = [
    await makePush(fixture, apiToken, canaries, {}),
    await makePush(fixture, apiToken, canaries, {
      files: [{ filename: `${canaries.makeCore("filename")}.txt`, data: btoa(canaries.makeCore("content")) }],
    }),
  ];
  const headers = { "user-agent": userAgent, referer: `https://${canaries.makeCore("referrer")}.example/` };
  for (const urlToken of urlTokens) {
    await fixture.server.inject({ url: `/api/v2/pushes/${urlToken}`, remoteAddress: address, headers });
  }
  const subject = canaries.makeCore("subject");
  const identity = { issuer: "i", subject, userId, now: 0, factorShown: true, perUserMax: 1 };
  const identities = createIdentityStore(
    db,
    new PasswordSeals({ access: accessOf(fixture.app.domain), keyring: () => fixture.app.domain.keyring }),
    systemRandom,
  );
  await db.writeSerialized("accounts", (tx) => identities.linkIdentity(tx, identity));
  const { app, backupCodes } = withFactors
    ? await addApp(clocked, session)
    : { app: { code: () => "000000" }, backupCodes: [] };
  if (withFactors) await addPasskey(clocked, session, canaries.makeCore("passkey's name"), password);
  const idsIn = async (text: string) => (await readRows(db, `${text} ORDER BY id`, userId)).map(({ id }) => Number(id));
  const ids = {
    session: await idsIn("SELECT id FROM sessions WHERE user_id = ?"),
    token: await idsIn("SELECT id FROM api_tokens WHERE user_id = ?"),
    passkey: await idsIn("SELECT id FROM passkeys WHERE user_id = ?"),
    push: await idsIn("SELECT id FROM pushes WHERE owner_id = ?"),
    user: [userId],
  };
  return { canaries, email, userId, person, session, apiToken, app, backupCodes, urlTokens, ids };
}

async function makePush(
  { server }: TestApp,
  apiToken: string,
  canaries: Canaries,
  more: Readonly<Record<string, unknown>>,
): Promise<string> {
  const make = (field: string) => canaries.makeCore(`push's ${field}`);
  const push = {
    payload: make("payload"),
    passphrase: make("passphrase"),
    name: make("name"),
    note: make("note"),
    deletable_by_viewer: false,
    expire_after_days: 90,
    ...more,
  };
  const answer = await server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    payload: { push },
    headers: { authorization: `Bearer ${apiToken}` },
  });
  if (answer.statusCode !== 201) throw new Error(`Creating was answered ${answer.statusCode}: ${answer.body}`);
  return String(answer.json().url_token);
}
