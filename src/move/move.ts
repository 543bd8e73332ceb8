import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Database, ReadConnection } from "../database/database.ts";
import {
  findUnfinishedMove,
  isMovedAway,
  markMovedAway,
  markUnfinishedMove,
  removeMovedAway,
  removeUnfinishedMove,
} from "../database/move-marks.ts";
import { createProcessRegistry } from "../database/processes.ts";
import type { Value } from "../database/statement.ts";
import { findSealedSecret, openVault } from "../pushes/vault.ts";
import { MoveError, type Progress, readProgress, writeProgress } from "./progress.ts";
import {
  createPushMover,
  createTableMover,
  type RowMover,
  readTable,
  readTables,
  updateDerivedValues,
} from "./store/row-movers.ts";

export interface MoveDeps {
  readonly from: Database;
  readonly to: Database;
  readonly keyring: Keyring;
  readonly random: Random;
  readonly clock: Clock;
  /** Called after each table, and from time to time within a large one. */
  readonly onProgress: (table: string, rows: number) => void;
}

export type MoveReport = Awaited<ReturnType<typeof moveDatabase>>;

const batchRows = 500;

/**
 * Copies a database into an empty one of the other engine, and compares both. Each batch is written together with the progress,
 * so an interrupted move continues where it stopped. The source is marked as moved away from the start, and the destination
 * as unfinished until the end: a server starts on neither. @throws MoveError or an error of a database. Then the move can be
 * run again.
 */
export async function moveDatabase(deps: MoveDeps) {
  const { from, to, keyring, random, clock } = deps;
  if (from.engine === to.engine)
    throw new MoveError("A move goes from SQLite to PostgreSQL or back: give one address of each.");
  const source = await fingerprintOf(from);
  const movers = await readMovers(from, to);
  const progress = await findProgress(to, movers, source);
  await openVault({ db: from, keyring, random, now: clock.now(), onForgedRow: () => undefined });
  if (!(await isMovedAway(from.read))) await markMovedAway(from);
  await refuseRunningServers(from, "from", clock, progress === undefined);
  await refuseRunningServers(to, "to", clock, false);
  if (progress === undefined) await to.write((tx) => markUnfinishedMove(tx, writeProgress(start(source))));
  await copyAll(deps, movers, progress ?? start(source));
  const tables = await compare(from, to, movers);
  await to.write(async (tx) => {
    await updateDerivedValues(tx);
    await removeUnfinishedMove(tx);
  });
  return { resumed: progress !== undefined, tables };
}

function start(source: string): Progress {
  return { source, table: undefined, after: undefined };
}

/** @throws MoveError if no server has used the database yet. */
async function fingerprintOf(from: Database): Promise<string> {
  const sealed = await findSealedSecret(from.read, "index_secret");
  if (sealed === undefined) throw new MoveError("There is nothing to move: the source has no data of a server.");
  if ((await findUnfinishedMove(from.read)) !== undefined) {
    throw new MoveError("The source is the destination of a move that was not finished.");
  }
  return createHash("sha256").update(sealed).digest("hex");
}

async function readMovers(from: Database, to: Database): Promise<readonly RowMover[]> {
  // The schema is read from this side: every column that SQLite has exists on both sides.
  const sqlite = [from, to].find(({ engine }) => engine === "sqlite");
  if (sqlite === undefined) throw new MoveError("A move needs SQLite on one of its sides.");
  const tables = (await readTables(sqlite)).map(createTableMover);
  return [...tables, createPushMover(await readTable(sqlite, "pushes"))];
}

/** @returns undefined for an empty destination. @throws MoveError if it has other data than those of this move. */
async function findProgress(to: Database, movers: readonly RowMover[], source: string): Promise<Progress | undefined> {
  const text = await findUnfinishedMove(to.read);
  if (text !== undefined) {
    const progress = readProgress(text);
    if (progress.source === source) return progress;
    throw new MoveError("The destination has an unfinished move from another source: empty it, or finish that move.");
  }
  if (await isMovedAway(to.read)) {
    throw new MoveError("The data of the destination were moved away earlier: use an empty database.");
  }
  for (const mover of movers) {
    if ((await mover.read(to.read, undefined, 1)).length > 0) {
      throw new MoveError(
        `The destination is not empty (it has rows in ${mover.name}), and a move overwrites nothing.`,
      );
    }
  }
  return undefined;
}

/** @param reopen remove the mark that was just set, because nothing has been moved yet. */
async function refuseRunningServers(db: Database, side: "from" | "to", clock: Clock, reopen: boolean): Promise<void> {
  const running = await createProcessRegistry(db).running(clock.now());
  if (running.length === 0) return;
  if (reopen) await removeMovedAway(db);
  throw new MoveError(
    `${running.length} process(es) used the database of --${side} within the last half minute. Stop them first. If they were ` +
      "killed, wait half a minute.",
  );
}

async function copyAll(deps: MoveDeps, movers: readonly RowMover[], progress: Progress): Promise<void> {
  const first = Math.max(
    0,
    movers.findIndex((mover) => mover.name === progress.table),
  );
  for (const mover of movers.slice(first)) {
    await copy(deps, mover, progress.source, mover.name === progress.table ? progress.after : undefined);
  }
}

async function copy(
  { from, to, onProgress }: MoveDeps,
  mover: RowMover,
  source: string,
  begin: Progress["after"],
): Promise<void> {
  let copied = 0;
  for (let after = begin; ; ) {
    const rows = await mover.read(from.read, after, batchRows);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = mover.keyOf(last);
    const reached = writeProgress({ source, table: mover.name, after });
    await to.write(async (tx) => {
      await mover.write(tx, rows);
      await markUnfinishedMove(tx, reached);
    });
    copied += rows.length;
    if (copied % (batchRows * 20) === 0) onProgress(mover.name, copied);
  }
  onProgress(mover.name, copied);
}

/** Reads both sides completely. @throws MoveError if a table differs. */
async function compare(from: Database, to: Database, movers: readonly RowMover[]) {
  const tables: Awaited<ReturnType<typeof digestOf>>[] = [];
  for (const mover of movers) {
    const [source, destination] = await Promise.all([digestOf(from.read, mover), digestOf(to.read, mover)]);
    if (source.rows !== destination.rows || source.digest !== destination.digest) {
      throw new MoveError(
        `The table ${mover.name} differs after the move (${source.rows} rows in the source, ${destination.rows} in the ` +
          "destination): create the destination again and start over.",
      );
    }
    tables.push(destination);
  }
  return tables;
}

/** Reads the whole table in batches. `digest`: SHA-256 of all values in the order of the key, equal on both engines. */
async function digestOf(connection: ReadConnection, mover: RowMover) {
  const hash = createHash("sha256");
  let rows = 0;
  for (let after: readonly Value[] | undefined; ; ) {
    const batch = await mover.read(connection, after, batchRows);
    for (const row of batch) for (const column of mover.columns) hash.update(encoded(row[column] ?? null));
    rows += batch.length;
    const last = batch.at(-1);
    if (last === undefined) return { name: mover.name, rows, digest: hash.digest("hex") };
    after = mover.keyOf(last);
  }
}

/** Type, length and bytes, so that different lists of values have different encodings. */
function encoded(value: Value): Buffer {
  if (value === null) return Buffer.from("-");
  const [type, bytes] = Buffer.isBuffer(value)
    ? ["b", value]
    : [typeof value === "number" ? "n" : "t", Buffer.from(String(value))];
  return Buffer.concat([Buffer.from(`${type}${bytes.length}:`), bytes]);
}
