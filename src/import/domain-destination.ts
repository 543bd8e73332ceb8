import { createUserAdoption, type UserAdoption } from "../accounts/admin/adopt-user.ts";
import { diskSpaceOf } from "../blobs/disk.ts";
import { createArgon2Queue } from "../crypto/passphrase.ts";
import { nothingElse, writeUntilKnown } from "../database/database.ts";
import { createIds } from "../database/ids.ts";
import type { Domain, Effects } from "../domain.ts";
import { createCapacity } from "../pushes/create/capacity.ts";
import { importPush, type PushImportDeps } from "../pushes/create/import-push.ts";
import { tombstoneMs } from "../pushes/present-push.ts";
import { completePush, completeUser } from "./complete-rows.ts";
import type {
  Destination,
  IncomingUser,
  KnownUser,
  Overtaken,
  PushOutcome,
  StyleOutcome,
  UserOutcome,
} from "./destination.ts";
import { createKnownPushes, readKnownUsers } from "./known-pushes.ts";
import { noHoldings } from "./source.ts";
import {
  createImportedRows,
  type ImportedRow,
  type ImportedRows,
  NoteChangedError,
  noteAlone,
} from "./store/imported-rows.ts";
import { isSameStyle, refusalOfStyle } from "./style.ts";

/** Each lane of an import waits for one passphrase at most. */
const argon2Limits = { runningMax: 2, waitingMax: 64, waitingPerClientMax: 64 };
/** There is one style sheet, and it has no number there. */
const styleId = 0;
/** Of the name by which what a run brings is told from what others do. */
const runBytes = 8;

/** Brings everything into an open domain. @param source as `ImportSource.fingerprint`. */
export function createDomainDestination(
  domain: Domain,
  effects: Pick<Effects, "clock" | "random" | "monotonicMs">,
  source: string,
): Destination {
  const rows = createImportedRows(domain.db.read, source);
  const users = createUserAdoption({ db: domain.db, keyring: domain.keyring, clock: effects.clock });
  const deps = adoptionDeps(domain, effects);
  const run = effects.random.bytes(runBytes).toString("hex");
  return {
    knownUsers: () => readKnownUsers(rows),
    knownPushes: () => createKnownPushes(rows),
    bringUser: (incoming, merge) => bringUser(users, rows, { run, incoming, merge }),
    async bringPush({ sourceId, push, lacks, holdings }): Promise<PushOutcome> {
      const brought = await importPush(deps, push, (tx, id) =>
        rows.note(tx, "push", sourceId, { run, id, lacks, holdings }),
      );
      if (brought.outcome === "link_taken") return brought;
      if (brought.outcome === "known") return { outcome: "known", known: await getPush(rows, sourceId) };
      return { ...brought, outcome: "brought" };
    },
    completeUser: (known, incoming) =>
      completeUser(users, rows, known, incoming).catch(orOvertaken(() => getUser(rows, known.sourceId))),
    completePush: (known, incoming) =>
      completePush(deps, rows, known, incoming).catch(orOvertaken(() => getPush(rows, known.sourceId))),
    bringStyle: (css) => bringStyle(domain, rows, { css, run }),
    forgetsAt({ ownerId, endedAt }) {
      const keptMs = ownerId === null ? tombstoneMs : domain.config.purgeAfterMs;
      return keptMs === undefined ? undefined : endedAt + keptMs;
    },
    async countHere() {
      const [noted, notedByThisRun] = await Promise.all([rows.counts(), rows.counts(run)]);
      return { noted, notedByThisRun, standing: await rows.standingOf(run) };
    },
  };
}

function adoptionDeps(
  { config, db, vault, store, blobs }: Domain,
  { clock, random, monotonicMs }: Pick<Effects, "clock" | "random" | "monotonicMs">,
): PushImportDeps {
  const diskSpace = diskSpaceOf(config.dataDir);
  return {
    ...{ config, db, vault, store, blobs, clock, random },
    ids: createIds(db, "pushes"),
    linkDeliveryIds: createIds(db, "link_deliveries"),
    argon2: createArgon2Queue(argon2Limits),
    // What nobody owns there nobody owns here: what such pushes may hold in all is asked of new ones.
    capacity: createCapacity({
      config: { ...config, anonymousBytesMax: undefined },
      ...{ monotonicMs, diskSpace, anonymousBytes: async () => 0 },
    }),
  };
}

async function bringUser(
  users: UserAdoption,
  rows: ImportedRows,
  { run, incoming, merge }: { readonly run: string; readonly incoming: IncomingUser; readonly merge: boolean },
): Promise<UserOutcome> {
  const { sourceId, user, lacks } = incoming;
  const { value } = await writeUntilKnown(() =>
    users.adopt(user, merge, async (tx, id, { merged, tokenTaken }) => {
      // An account that was here stays as it is but for its API tokens.
      const own = merged ? lacks.filter((part) => part === "api_token") : lacks;
      const all = tokenTaken ? [...own, "api_token" as const] : own;
      return (await rows.note(tx, "user", sourceId, { run, id, lacks: all, holdings: noHoldings })) === "now";
    }),
  );
  if (value.outcome === "adopted") return { ...value, outcome: "brought" };
  const known = await findUser(rows, sourceId);
  // The account with the same e-mail may be the user's own, brought by a run beside this one or by a try before this one.
  if (known === undefined && value.outcome === "email_taken") return value;
  if (known === undefined) throw new Error("A user that came in before is not noted.");
  if (known.run !== run) return { outcome: "known", known };
  return {
    ...{ outcome: "brought", userId: known.id, merged: lacks.some((part) => !known.lacks.includes(part)) },
    tokenTaken: known.lacks.includes("api_token") && !lacks.includes("api_token"),
  };
}

async function findUser(rows: ImportedRows, sourceId: number): Promise<KnownUser | undefined> {
  const [user] = await rows.usersAfter(sourceId - 1, 1);
  return user?.sourceId === sourceId ? user : undefined;
}

async function getUser(rows: ImportedRows, sourceId: number): Promise<KnownUser> {
  const user = await findUser(rows, sourceId);
  if (user === undefined) throw new Error("A user that came in before is not noted.");
  return user;
}

async function getPush(rows: ImportedRows, sourceId: number): Promise<ImportedRow> {
  const push = await rows.find("push", sourceId);
  if (push === undefined) throw new Error("A push that came in before is not noted.");
  return push;
}

/** Of a completion that another run was faster with. */
function orOvertaken<Row>(get: () => Promise<Row>): (error: unknown) => Promise<Overtaken<Row>> {
  return async (error) => {
    if (!(error instanceof NoteChangedError)) throw error;
    return { outcome: "overtaken", now: await get() };
  };
}

async function bringStyle(
  domain: Domain,
  rows: ImportedRows,
  { css, run }: { readonly css: string; readonly run: string },
): Promise<StyleOutcome> {
  if ((await rows.count("style")) > 0) return { outcome: "known" };
  const present = domain.branding.theme().style;
  if (present !== undefined && !(await isSameStyle(css, present.content))) return { outcome: "other_style" };
  const problem = present === undefined ? await domain.branding.setStyle(css, nothingElse) : undefined;
  if (problem !== undefined) return { outcome: "refused", reason: refusalOfStyle(problem) };
  const isFirst = await noteAlone(domain.db, rows, "style", { sourceId: styleId, id: styleId, run });
  return { outcome: isFirst ? "brought" : "known" };
}
