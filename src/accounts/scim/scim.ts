import { normalizeEmail } from "../../base/email.ts";
import type { Transaction } from "../../database/database.ts";
import type { AdminAction } from "../admin/admin-actions.ts";
import type { AccountsDeps } from "../deps.ts";
import { disableUser, recordAction } from "../store/administration.ts";
import { isFirstRunOver } from "../store/first-run.ts";
import type { PasswordSeals } from "../store/password-seals.ts";
import { nameKeyOf, type ScimAccount, type ScimStore } from "../store/scim-users.ts";
import { users } from "../store/tables.ts";
import { findOtherAdmins, insertUserIn } from "../store/users.ts";

/** What SCIM keeps of a user (RFC 7643, section 4.1), as the provider sent it. */
export interface ScimUser {
  readonly id: number;
  readonly userName: string;
  readonly externalId: string | null;
  readonly active: boolean;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewScimUser {
  readonly userName: string;
  readonly externalId: string | null;
  readonly active: boolean;
}

export type ScimRefusal =
  | "unknown"
  | "user_name_taken"
  | "external_id_taken"
  /** Somebody has used the account, and its external id belongs to that person. */
  | "external_id_fixed"
  | "not_an_address"
  | "last_admin"
  | "no_users_yet";

/** Thrown in the transaction, so that nothing of a refused request is written. */
export class ScimRefusedError extends Error {
  readonly refusal: ScimRefusal;

  constructor(refusal: ScimRefusal) {
    super(`SCIM: ${refusal}`);
    this.refusal = refusal;
  }
}

type Said = Omit<NonNullable<ScimAccount["said"]>, "id" | "nameKey">;

interface Parts extends Pick<AccountsDeps, "db" | "clock" | "random" | "access" | "destroyStoredLinks"> {
  readonly seals: PasswordSeals;
  readonly store: ScimStore;
}

/** A change while the accounts lock is held. `address`: of the client. */
interface Work extends Parts {
  readonly tx: Transaction;
  readonly now: number;
  readonly address: string;
}

/** The accounts of the identity provider's people, which it makes, disables and enables over SCIM. All changes throw ScimRefusedError. */
export function createScim(parts: Parts) {
  const { db, clock, store } = parts;
  const write = <T>(address: string, apply: (work: Work) => Promise<T>): Promise<T> =>
    db.writeSerialized("accounts", (tx) => apply({ ...parts, tx, now: clock.now(), address }));
  const shown = (account: ScimAccount | undefined) => (account?.isVisible ? userOf(account) : undefined);

  return {
    async list(skipped: number, usersMax: number): Promise<{ total: number; users: readonly ScimUser[] }> {
      const { total, accounts } = await store.list(db.read, { skipped, usersMax });
      return { total, users: accounts.map(userOf) };
    },
    find: async (userId: number) => shown(await store.find(db.read, userId)),
    findByUserName: async (userName: string) => shown(await store.findByName(db.read, userName)),
    findByExternalId: async (externalId: string) => shown(await store.findByExternalId(db.read, externalId)),
    /** What is kept of a user, whether SCIM sees the account or not; null: nothing. */
    async findKept(userId: number): Promise<Pick<ScimUser, "userName" | "externalId"> | null> {
      const { said } = (await store.find(db.read, userId)) ?? {};
      return said === undefined ? null : { userName: said.userName, externalId: said.externalId };
    },
    /** With the external id of a user who was deleted, that user's account is opened again. */
    create: (wanted: NewScimUser, address: string): Promise<ScimUser> => write(address, (work) => create(work, wanted)),
    /** Nothing is written if nothing changes. */
    change: (userId: number, wanted: Partial<NewScimUser>, address: string): Promise<ScimUser> =>
      write(address, (work) => change(work, userId, wanted)),
    remove: (userId: number, address: string): Promise<void> => write(address, (work) => remove(work, userId)),
  };
}

export type Scim = ReturnType<typeof createScim>;

function userOf({ id, email, disabledAt, said, createdAt, updatedAt }: ScimAccount): ScimUser {
  const { userName = email, externalId = null } = said ?? {};
  return { id, userName, externalId, active: disabledAt === null, createdAt, updatedAt };
}

function saidOf({ email, said }: ScimAccount): Said {
  const fresh = { userName: email, externalId: null, isMade: false, isDeleted: false };
  return said ?? { ...fresh, hasDisabled: false, hasGivenAddress: false };
}

/** No mail server has this domain (RFC 6761). */
const releasedAddress = (userId: number) => `${userId}@released.invalid`;

const record = ({ tx, now, address }: Work, action: AdminAction, subject: string) =>
  recordAction(tx, { by: { userId: null, email: "SCIM", address }, action, subject, now });

async function findWritten({ store, tx }: Work, userId: number): Promise<ScimAccount> {
  const account = await store.find(tx, userId);
  if (account === undefined) throw new Error("The user that was written cannot be read.");
  return account;
}

async function findVisible({ store, tx }: Work, userId: number): Promise<ScimAccount> {
  const account = await store.find(tx, userId);
  if (!account?.isVisible) throw new ScimRefusedError("unknown");
  return account;
}

async function create(work: Work, wanted: NewScimUser): Promise<ScimUser> {
  const { store, tx, now, seals, random, access } = work;
  const { userName, externalId, active } = wanted;
  // The first account has to be an administrator's, created with the boot code.
  if (!(await isFirstRunOver(tx))) throw new ScimRefusedError("no_users_yet");
  const known = externalId === null ? undefined : await store.ownerOfExternalId(tx, externalId);
  if (known !== undefined) return reopen(work, known, wanted);
  const email = addressIn(userName);
  await claimName(work, email, undefined);
  const rest = { passwordHash: "", admin: false, confirmed: true, language: null, isUnused: true, now };
  const made = await insertUserIn(tx, seals, random, { email, ...rest });
  if (made === undefined) throw new ScimRefusedError("user_name_taken");
  if (!active) await disableUser(tx, access, made.id, now);
  const said = { userName, externalId, isMade: true, isDeleted: false, hasDisabled: !active, hasGivenAddress: false };
  await store.write(tx, await findWritten(work, made.id), said);
  await record(work, "scim_created", email);
  return userOf(await findWritten(work, made.id));
}

/** The user was deleted before, and the provider has the same person again. */
async function reopen(work: Work, userId: number, wanted: NewScimUser): Promise<ScimUser> {
  const account = await work.store.find(work.tx, userId);
  const isDeleted = account?.said?.isDeleted === true && !account.isBreakGlass;
  if (!isDeleted) throw new ScimRefusedError("external_id_taken");
  const { userName } = wanted;
  await claimName(work, nameKeyOf(userName), account);
  const said = { ...saidOf(account), userName, isDeleted: false };
  const opened = await switchActive(work, account, said, wanted.active);
  await work.store.write(work.tx, account, opened);
  // An account that an administrator has disabled stays so.
  if (opened === said) await record(work, "scim_changed", account.email);
  return userOf(await findWritten(work, userId));
}

function addressIn(userName: string): string {
  const email = normalizeEmail(userName);
  if (email === undefined) throw new ScimRefusedError("not_an_address");
  return email;
}

/** @returns the account of an address, if it is another than `account`. */
async function otherOwner({ store, tx }: Work, email: string, account: ScimAccount | undefined) {
  const owner = await store.ownerOfEmail(tx, email);
  return owner === account?.id ? undefined : owner;
}

/** @throws ScimRefusedError: another account has the name, as address or as user name. */
async function requireFreeName(work: Work, nameKey: string, account: ScimAccount | undefined): Promise<void> {
  const isAddress = (await otherOwner(work, nameKey, account)) !== undefined;
  if (isAddress || (await work.store.isNameTaken(work.tx, nameKey, account?.id ?? 0))) {
    throw new ScimRefusedError("user_name_taken");
  }
}

/** As `requireFreeName`, but a user who has left loses the name. */
async function claimName(work: Work, nameKey: string, account: ScimAccount | undefined): Promise<void> {
  const owner = await otherOwner(work, nameKey, account);
  const holder = owner === undefined ? undefined : await work.store.find(work.tx, owner);
  if (holder !== undefined && hasLeft(holder)) await release(work, holder);
  await requireFreeName(work, nameKey, account);
}

/** Deleted; or disabled and renamed, as Entra does for 30 days before it deletes: the provider itself gives the name away. */
function hasLeft({ isBreakGlass, said, disabledAt, email }: ScimAccount): boolean {
  if (isBreakGlass || said === undefined || disabledAt === null) return false;
  return said.isDeleted || (said.hasDisabled && said.nameKey !== email);
}

/** The account loses its address and the links of its lists: a namesake never gets what was the other's. */
async function release(work: Work, { id, email: before }: ScimAccount): Promise<void> {
  const { tx, store, now, destroyStoredLinks } = work;
  const email = releasedAddress(id);
  await store.changeEmail(tx, id, email, now);
  await destroyStoredLinks(tx, id);
  await record(work, "scim_changed", `${before} -> ${email}`);
}

async function change(work: Work, userId: number, wanted: Partial<NewScimUser>): Promise<ScimUser> {
  const account = await findVisible(work, userId);
  const before = saidOf(account);
  const { userName = before.userName, externalId = before.externalId } = wanted;
  const said = { ...before, userName, externalId };
  if (nameKeyOf(userName) !== nameKeyOf(before.userName)) await requireFreeName(work, nameKeyOf(userName), account);
  if (externalId !== before.externalId) await requireExternalId(work, account, externalId);
  const switched = await switchActive(work, account, said, wanted.active);
  const isRenamed = userName !== before.userName || externalId !== before.externalId;
  if (!isRenamed && switched === said) return userOf(account);
  await work.store.write(work.tx, account, switched);
  if (isRenamed) {
    await users.change(work.tx, work.access, userId, { updatedAt: work.now });
    await record(work, "scim_changed", account.email);
  }
  return userOf(await findWritten(work, userId));
}

/**
 * Threat: a namesake of somebody who has left gets that person's account, or a thief of the SCIM token gets somebody's. So the external id
 * of an account that was used changes only to one that its own sign-on has proved.
 */
async function requireExternalId({ store, tx }: Work, account: ScimAccount, externalId: string | null): Promise<void> {
  const isSettled = !account.isUnused || account.admin;
  const isProved = externalId !== null && account.provedIds.includes(externalId);
  const isNew = saidOf(account).externalId === null && account.disabledAt === null;
  if (isSettled && !isProved && !isNew) throw new ScimRefusedError("external_id_fixed");
  const owner = externalId === null ? undefined : await store.ownerOfExternalId(tx, externalId);
  if (owner !== undefined && owner !== account.id) throw new ScimRefusedError("external_id_taken");
}

/** What an administrator has disabled stays so. @returns `said` itself: nothing changes. */
async function switchActive(work: Work, account: ScimAccount, said: Said, active: boolean | undefined): Promise<Said> {
  if (active === false && account.disabledAt === null) {
    await disable(work, account);
    await record(work, "scim_disabled", account.email);
    return { ...said, hasDisabled: true };
  }
  if (active !== true || account.disabledAt === null || !said.hasDisabled) return said;
  const { tx, access, now } = work;
  const isReleased = account.email === releasedAddress(account.id);
  const email = isReleased ? addressIn(said.userName) : account.email;
  if (isReleased) await requireFreeName(work, email, account);
  await users.change(tx, access, account.id, { email, disabledAt: null, updatedAt: now });
  await record(work, "scim_enabled", email);
  const hasGivenAddress = said.hasGivenAddress || (isReleased && !account.isUnused);
  return { ...said, hasDisabled: false, hasGivenAddress };
}

/** @throws ScimRefusedError: no administrator would be left. */
async function disable({ tx, access, now }: Work, { id, admin }: ScimAccount): Promise<void> {
  if (admin && (await findOtherAdmins(tx, access, id)).length === 0) throw new ScimRefusedError("last_admin");
  await disableUser(tx, access, id, now);
}

async function remove(work: Work, userId: number): Promise<void> {
  const account = await findVisible(work, userId);
  const said = saidOf(account);
  const isEnabled = account.disabledAt === null;
  if (isEnabled) await disable(work, account);
  await work.store.write(work.tx, account, { ...said, isDeleted: true, hasDisabled: said.hasDisabled || isEnabled });
  await record(work, "scim_deleted", account.email);
}
