import type { SourcePush, SourceRow, SourceUser } from "@sealpush/import-password-pusher";
import { tombstoneMs } from "../pushes/present-push.ts";
import { countRows, type ImportDeps } from "./import-results.ts";
import { readUser } from "./read-user.ts";
import { runConcurrently } from "./run-concurrently.ts";
import { createImportedRows, type ImportedRow, withRecords } from "./store/imported-rows.ts";
import { type StoredImport, Verdict } from "./stored-import.ts";
import { verifyPush } from "./verify-push.ts";
import { verifyUser } from "./verify-user.ts";

/** What differs in one row. It holds no secret, token or name. */
export interface Finding {
  readonly table: "users" | "pushes";
  readonly id: number;
  /** `changed`: by people, since the import. */
  readonly effect: "failed" | "changed";
  readonly reason: string;
}

interface VerificationDeps extends Pick<ImportDeps, "source" | "now" | "signal" | "onProgress"> {
  readonly here: StoredImport;
  readonly onFinding: (finding: Finding) => void;
}

/** A task holds the payload of both sides, and one segment of a file. */
const limits = { tasksMax: 8, weightMax: 16 * 1024 * 1024 };
const rowWeight = 4_096;

const noCounts = () => ({ open: 0, ended: 0, changed: 0, notNeeded: 0, failed: 0 });

export type Verification = Exclude<Awaited<ReturnType<typeof verifyImport>>, "not_imported">;

/**
 * Compares every user and push of the source with what was imported from it, in memory that grows with the number of users
 * only. Nothing is written. @returns "not_imported": this server knows nothing of the source.
 * @throws errors of either side as a whole, also for a record of the import that this server did not write.
 */
export async function verifyImport({ source, here, now, signal, onProgress, onFinding }: VerificationDeps) {
  const rows = createImportedRows(here.read, here.access, source.fingerprint);
  const inSource = await source.counts();
  const recorded = await rows.counts();
  if (recorded.users + recorded.pushes === 0 && inSource.users + inSource.pushes > 0) return "not_imported";
  const recordedSnapshot = await rows.readSnapshot();
  const changesThere = recordedSnapshot && (await source.changesSince(recordedSnapshot.tables));
  // Each row of the source is counted once.
  const results = { users: noCounts(), pushes: noCounts(), files: 0, fileBytes: 0 };
  const onRow = countRows(inSource, onProgress);
  function add(table: Finding["table"], id: number, { failures, changes, state, files, fileBytes }: Verdict): void {
    for (const reason of failures) onFinding({ table, id, effect: "failed", reason });
    for (const reason of changes) onFinding({ table, id, effect: "changed", reason });
    results[table][failures.length > 0 ? "failed" : changes.length > 0 ? "changed" : state] += 1;
    results.files += files;
    results.fileBytes += fileBytes;
    onRow(table);
  }
  const users = new Map<number, ImportedRow>();
  for await (const user of rows.all("user")) users.set(user.sourceId, user);
  for await (const row of source.users()) {
    if (signal.aborted) break;
    add("users", row.id, await verifyUserRow(here, row, users.get(row.id), now));
  }
  const pushes = withRecords(source.pushes(), rows.all("push"));
  const weightOf = ({ row }: { readonly row: SourceRow<SourcePush> }) =>
    rowWeight + (row.outcome === "read" ? (row.row.open?.payload.length ?? 0) * 8 : 0);
  await runConcurrently(pushes, { ...limits, weightOf, signal }, async ({ row, imported }) => {
    const owner = row.outcome === "read" && row.row.userId !== null ? users.get(row.row.userId) : undefined;
    add("pushes", row.id, await verifyPushRow({ source, here, now }, row, imported, owner));
  });
  const failed = results.users.failed + results.pushes.failed;
  return { interrupted: signal.aborted, inSource, results, failed, changesThere: changesThere ?? [] };
}

function withoutRow(row: SourceRow<unknown> & { readonly outcome: "skipped" | "unreadable" }): Verdict {
  return row.outcome === "skipped" ? Verdict.notNeeded() : new Verdict().fail(row.reason);
}

const notImported = "It was not imported. Run the import again: it says why.";

async function verifyUserRow(
  here: StoredImport,
  row: SourceRow<SourceUser>,
  imported: ImportedRow | undefined,
  now: number,
): Promise<Verdict> {
  if (row.outcome !== "read") return withoutRow(row);
  if (imported === undefined) return new Verdict().fail(notImported);
  // Whether the source required a confirmation is not compared.
  const read = readUser(row.row, "confirmed");
  if (read === undefined) return new Verdict().fail("Its email address is not valid here.");
  return await verifyUser(here, read.user, imported, now);
}

async function verifyPushRow(
  { source, here, now }: Pick<VerificationDeps, "source" | "here" | "now">,
  row: SourceRow<SourcePush>,
  imported: ImportedRow | undefined,
  owner: ImportedRow | undefined,
): Promise<Verdict> {
  if (row.outcome !== "read") return withoutRow(row);
  if (imported !== undefined) {
    const eventsThere = row.related?.auditEntries ?? 0;
    return await verifyPush({ here, source, push: row.row, eventsThere, imported, owner, now });
  }
  const { userId, end } = row.row;
  const isForgotten = userId === null && end !== null && end.at + tombstoneMs <= now;
  if (isForgotten || owner?.accountExists === false) return Verdict.notNeeded();
  return new Verdict().fail(notImported);
}
