import type { ImportSource, SourcePush, SourceRow, SourceUser } from "@sealpush/import-password-pusher";
import { tombstoneMs } from "../pushes/present-push.ts";
import { readUser } from "./read-user.ts";
import { runConcurrently } from "./run-concurrently.ts";
import { type ImportedRow, ImportedRows, withRecords } from "./store/imported-rows.ts";
import type { StoredImport } from "./stored-import.ts";
import { Verdict } from "./verdict.ts";
import { verifyPush } from "./verify-push.ts";
import { verifyUser } from "./verify-user.ts";

/** What differs in one row. It holds no secret, token or name. */
export interface Finding {
  readonly table: "users" | "pushes";
  /** In the source. */
  readonly id: number;
  /** `changed`: by people, since the import. */
  readonly effect: "failed" | "changed";
  readonly reason: string;
}

interface VerificationDeps {
  readonly source: ImportSource;
  readonly here: StoredImport;
  readonly now: number;
  /** When it is aborted, rows in progress are finished and no others are started. */
  readonly signal: AbortSignal;
  readonly onProgress: (table: Finding["table"], read: number, total: number) => void;
  readonly onFinding: (finding: Finding) => void;
}

/** A task holds the payload of both sides, and one segment of a file. */
const limits = { tasksMax: 8, weightMax: 16 * 1024 * 1024 };
const rowWeight = 4_096;

type UserRow = SourceRow<SourceUser>;
type PushRow = SourceRow<SourcePush>;

export type Verification = Awaited<ReturnType<typeof verifyImport>>;

/**
 * Compares every user and push of the source with what was imported from it, in memory that grows with the number of users
 * only. Nothing is written. @returns "not_imported": this server knows nothing of the source.
 * @throws errors of either side as a whole, also for a record of the import that this server did not write.
 */
export async function verifyImport({ source, here, now, signal, onProgress, onFinding }: VerificationDeps) {
  const rows = new ImportedRows(here.read, here.access, source.fingerprint);
  const inSource = await source.counts();
  const results = new Results(onFinding, (table, read) => onProgress(table, read, inSource[table]));
  const recorded = await rows.counts();
  if (recorded.users + recorded.pushes === 0 && inSource.users + inSource.pushes > 0) return "not_imported";
  const recordedSnapshot = await rows.readSnapshot();
  const changesThere = recordedSnapshot && (await source.changesSince(recordedSnapshot.tables));
  const users = new Map<number, ImportedRow>();
  for await (const user of rows.all("user")) users.set(user.sourceId, user);
  for await (const row of source.users()) {
    if (signal.aborted) break;
    results.add("users", row.id, await verifyUserRow(here, row, users.get(row.id), now));
  }
  const pushes = withRecords(source.pushes(), rows.all("push"));
  const weightOf = ({ row }: { readonly row: PushRow }) =>
    rowWeight + (row.outcome === "read" ? (row.row.open?.payload.length ?? 0) * 8 : 0);
  await runConcurrently(pushes, { ...limits, weightOf, signal }, async ({ row, imported }) => {
    const owner = row.outcome === "read" && row.row.userId !== null ? users.get(row.row.userId) : undefined;
    results.add("pushes", row.id, await verifyPushRow({ source, here, now }, row, imported, owner));
  });
  return { interrupted: signal.aborted, inSource, results, changesThere: changesThere ?? [] };
}

const notImported = "It was not imported. Run the import again: it says why.";

async function verifyUserRow(
  here: StoredImport,
  row: UserRow,
  imported: ImportedRow | undefined,
  now: number,
): Promise<Verdict> {
  if (row.outcome === "skipped") return Verdict.notNeeded();
  if (row.outcome === "unreadable") return new Verdict().fail(row.reason);
  if (imported === undefined) return new Verdict().fail(notImported);
  // Whether the source required a confirmation is not compared.
  const read = readUser(row.row, "confirmed");
  return read.outcome === "refused"
    ? new Verdict().fail(read.reason)
    : await verifyUser(here, read.user, imported, now);
}

async function verifyPushRow(
  { source, here, now }: Pick<VerificationDeps, "source" | "here" | "now">,
  row: PushRow,
  imported: ImportedRow | undefined,
  owner: ImportedRow | undefined,
): Promise<Verdict> {
  if (row.outcome === "skipped") return Verdict.notNeeded();
  if (row.outcome === "unreadable") return new Verdict().fail(row.reason);
  if (imported !== undefined) {
    const eventsThere = row.related?.auditEntries ?? 0;
    return await verifyPush({ here, source, push: row.row, eventsThere, imported, owner, now });
  }
  const { userId, end } = row.row;
  const isForgotten = userId === null && end !== null && end.at + tombstoneMs <= now;
  if (isForgotten || owner?.accountExists === false) return Verdict.notNeeded();
  return new Verdict().fail(notImported);
}

const noCounts = () => ({ open: 0, ended: 0, changed: 0, notNeeded: 0, failed: 0 });

/** Counts each row of the source once. */
class Results {
  readonly users = noCounts();
  readonly pushes = noCounts();
  files = 0;
  fileBytes = 0;
  readonly #onFinding: VerificationDeps["onFinding"];
  readonly #onRow: (table: Finding["table"], read: number) => void;
  readonly #read = { users: 0, pushes: 0 };

  constructor(onFinding: VerificationDeps["onFinding"], onRow: (table: Finding["table"], read: number) => void) {
    this.#onFinding = onFinding;
    this.#onRow = onRow;
  }

  get failed(): number {
    return this.users.failed + this.pushes.failed;
  }

  add(table: Finding["table"], id: number, { failures, changes, state, files, fileBytes }: Verdict): void {
    for (const reason of failures) this.#onFinding({ table, id, effect: "failed", reason });
    for (const reason of changes) this.#onFinding({ table, id, effect: "changed", reason });
    this[table][failures.length > 0 ? "failed" : changes.length > 0 ? "changed" : state] += 1;
    this.files += files;
    this.fileBytes += fileBytes;
    this.#read[table] += 1;
    this.#onRow(table, this.#read[table]);
  }
}
