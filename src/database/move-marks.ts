import type { Database, ReadConnection, Transaction } from "./database.ts";
import { putMeta, readMeta, removeMeta } from "./meta.ts";

/** Marks the destination of an unfinished move and stores its progress. No server may start on such a database. */
const unfinishedName = "move_unfinished";
/** Marks a database whose data were moved, or are being moved, to another one. */
const movedAwayName = "moved_away";

/** Whether the data of another server, in whose place this one runs, are complete. A move to another engine keeps it. */
const movedInName = "moved_in";

export const moveMarkNames: readonly string[] = [unfinishedName, movedAwayName];

export async function findUnfinishedMove(connection: ReadConnection): Promise<string | undefined> {
  return (await connection.one(readMeta, unfinishedName))?.value.toString("utf8");
}

export async function markUnfinishedMove(tx: Transaction, progress: string): Promise<void> {
  await tx.run(putMeta, unfinishedName, Buffer.from(progress));
}

export async function removeUnfinishedMove(tx: Transaction): Promise<void> {
  await tx.run(removeMeta, unfinishedName);
}

export async function isMovedAway(connection: ReadConnection): Promise<boolean> {
  return (await connection.one(readMeta, movedAwayName)) !== undefined;
}

export async function markMovedAway(db: Database): Promise<void> {
  await db.autocommit({ retry: "whenNotExecuted" }).run(putMeta, movedAwayName, Buffer.alloc(0));
}

/** @returns false when there was no mark. */
export async function removeMovedAway(db: Database): Promise<boolean> {
  return (await db.autocommit({ retry: "whenNotExecuted" }).run(removeMeta, movedAwayName)) === 1;
}

/** Servers on two copies could reveal a secret twice. @throws Error with a sentence for the operator. */
export async function refuseMovedDatabase(db: Database): Promise<void> {
  const marks = [];
  for (const name of moveMarkNames) if ((await db.read.one(readMeta, name)) !== undefined) marks.push(name);
  refuseMoveMarks(marks);
}

/** @param marks those of a database among `moveMarkNames`. @throws Error with a sentence for the operator. */
export function refuseMoveMarks(marks: readonly string[]): void {
  if (marks.includes(unfinishedName)) {
    throw new Error("A move into this database was not finished: run the same `sealpush move` again.");
  }
  if (marks.includes(movedAwayName)) {
    throw new Error(
      "The data of this database were moved to another one, or are being moved: set DATABASE_URL (while SEALPUSH_MOVE_IN " +
        "is set: SEALPUSH_DATABASE_URL) to that one. To keep using this one, and never the other, run `sealpush move --reopen` with its address.",
    );
  }
}

/** @returns undefined if this database was not made in the place of another server's. */
export async function findMoveIn(connection: ReadConnection): Promise<"unfinished" | "finished" | undefined> {
  const value = (await connection.one(readMeta, movedInName))?.value.toString("utf8");
  return value === "unfinished" || value === "finished" ? value : undefined;
}

/** Until the import is complete, links would lead nowhere. @throws Error with a sentence for the operator. */
export async function refuseUnfinishedMoveIn(connection: ReadConnection): Promise<void> {
  if ((await findMoveIn(connection)) !== "unfinished") return;
  throw new Error(
    "The import of Password Pusher's data into this database was begun and is not complete: start again with " +
      "SEALPUSH_MOVE_IN=yes and the variables of Password Pusher to finish it, or use a new database and data folder.",
  );
}

export async function markMoveIn(db: Database, state: "unfinished" | "finished"): Promise<void> {
  await db.autocommit({ retry: "whenNotExecuted" }).run(putMeta, movedInName, Buffer.from(state));
}
