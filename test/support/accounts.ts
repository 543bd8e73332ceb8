import { expect } from "vitest";
import { type Accounts, type ClientContext, createAccounts } from "../../src/accounts/accounts.ts";
import type { AccountsDeps } from "../../src/accounts/deps.ts";
import { createPasskeyStore } from "../../src/accounts/store/passkeys.ts";
import { PasswordSeals } from "../../src/accounts/store/password-seals.ts";
import { users } from "../../src/accounts/store/tables.ts";
import { systemRandom } from "../../src/base/random.ts";
import { AccessKeys } from "../../src/crypto/access-keys.ts";
import { createKeyring } from "../../src/crypto/keyring.ts";
import type { Database } from "../../src/database/database.ts";
import { createHashAttempts } from "../../src/limits/hash-attempts.ts";
import { createInMemoryLimits } from "../../src/limits/in-memory-limits.ts";
import { createOutbox } from "../../src/mail/outbox.ts";
import { createGroupStore } from "../../src/policies/store/groups.ts";
import { destroyLinkSecret } from "../../src/pushes/store/link-secrets.ts";
import { accessOf } from "./access-rows.ts";
import { openEngineDatabase, readRows } from "./engine-database.ts";
import { makeFolder } from "./folders.ts";

/** Settings without any restriction. */
export const openSettings: AccountsDeps["settings"] = {
  signupsDisabled: false,
  loginsDisabled: false,
  signupEmailPattern: undefined,
  emails: true,
  requiresConfirmation: true,
  requireSecondFactor: false,
  sessionTimeoutSeconds: 7_200,
  sessionMaxSeconds: 90 * 86_400,
  tokensRestAfterMs: null,
  signOnOnly: false,
};

/** @param throttleKey the key of the client's limits. */
export function clientAt(throttleKey: string): ClientContext {
  return { throttleKey, address: "192.0.2.1", userAgent: "test" };
}

export const startOfTests = Date.UTC(2030, 0, 1);

export interface TestAccounts {
  readonly accounts: Accounts;
  readonly db: Database;
  readonly access: AccessKeys;
  readonly seals: PasswordSeals;
  /** The unsealed password hashes of all users. */
  readonly passwordHashes: () => Promise<readonly string[]>;
  /** Sets the password hash of this user; without `userId` of the only user. */
  readonly setPasswordHash: (hash: string, userId?: number) => Promise<void>;
  /** The tables of rows that were refused because this server did not write them. */
  readonly forgedRows: readonly string[];
  /** Moves the clock; negative: sets it back. */
  readonly advance: (ms: number) => void;
  /** Password checks so far. */
  readonly checks: () => number;
}

/** Instant, without the cost of Argon2id: for tests that are not about hashing. */
function plainArgon2(): { argon2: AccountsDeps["argon2"]; checks: () => number } {
  let checks = 0;
  return {
    argon2: {
      hashPassword: async (password) => `plain:${password}`,
      verifyPassword: async (phc, password) => {
        checks += 1;
        return phc === `plain:${password}`;
      },
    },
    checks: () => checks,
  };
}

/** Accounts on a new database, which is removed after the test. */
export function makeTestAccounts(overrides: Partial<AccountsDeps> = {}): TestAccounts {
  const folder = makeFolder();
  let isOver = false;
  const db = openEngineDatabase(folder, () => {
    isOver = true;
  });
  const { argon2, checks } = plainArgon2();
  let now = startOfTests;
  const keyring = createKeyring([Buffer.alloc(32, 7)], systemRandom);
  const forgedRows: string[] = [];
  const access = new AccessKeys(Buffer.alloc(32, 8), (table) => void forgedRows.push(table));
  const outbox = createOutbox({ db, keyring: () => keyring, open: true });
  const limits = createInMemoryLimits();
  const accounts = createAccounts({
    db,
    clock: { now: () => now },
    random: systemRandom,
    argon2,
    settings: openSettings,
    keyring: () => keyring,
    access,
    outbox,
    requestedOutbox: outbox,
    mailAvailable: () => true,
    limits,
    hashAttempts: createHashAttempts(limits),
    destroyStoredLinks: destroyLinkSecret,
    provider: undefined,
    claimedGroups: createGroupStore(db, access, systemRandom),
    isSignUpClosed: async () => false,
    onUseNotRecorded: (of, error) => {
      // Nothing waits for this write, so it may fail after the test has ended.
      if (!isOver) throw new Error(`The use of a ${of} was not recorded.`, { cause: error });
    },
    ...overrides,
  });
  const seals = new PasswordSeals({ access, keyring: () => keyring });
  return {
    accounts,
    db,
    seals,
    async passwordHashes() {
      const rows = await readRows<{ id: number; sealed: Buffer | null }>(
        db,
        "SELECT id, password_sealed AS sealed FROM users",
      );
      return rows.map(({ id, sealed }) => seals.open({ id: Number(id), hasPassword: true }, sealed));
    },
    async setPasswordHash(hash, userId) {
      const id = userId ?? Number((await readRows<{ id: number }>(db, "SELECT id FROM users"))[0]?.id);
      await db.writeSerialized("accounts", (tx) => users.change(tx, access, id, seals.columnsOf(id, hash)));
    },
    access,
    forgedRows,
    checks,
    advance(ms) {
      now += ms;
    },
  };
}

export const password = "correct horse battery";

export function makeUser(accounts: Accounts, email = "ada@example.com") {
  return accounts.createUser({ email, password, admin: false });
}

/** Adds a passkey that no authenticator has. */
export async function addUnusablePasskey(
  domain: { readonly db: Database } & Parameters<typeof accessOf>[0],
  { id }: { readonly id: number },
): Promise<void> {
  const passkeys = createPasskeyStore(domain.db, accessOf(domain));
  const passkey = { credentialId: Buffer.of(1), publicKey: Buffer.of(0), signCount: 0, transports: [], name: "key" };
  await domain.db.writeSerialized("accounts", (tx) => passkeys.addPasskey(tx, { ...passkey, userId: id, now: 0 }));
}

/** Waits until the use of the only session or token is recorded, which happens after the request. */
export async function untilUsed(db: Database, what: "session" | "api_token", at: number): Promise<void> {
  const used = {
    session: "SELECT seen_at AS used FROM sessions",
    api_token: "SELECT last_used_at AS used FROM api_tokens",
  };
  await expect.poll(() => readRows(db, used[what]), { interval: 5 }).toEqual([{ used: at }]);
}
