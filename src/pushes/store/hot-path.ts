import { type Database, OutcomeUnknownError } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";
import type { AuditRecord } from "../audit-trail.ts";
import type { NewDispatch } from "../notice-store.ts";
import type { InsertOutcome, NewPush, PushStore } from "../store.ts";
import { claimInOneStatement } from "./claim-statement.ts";
import { DispatchRefusedError, putDispatch } from "./dispatches.ts";
import { insertInOneStatement } from "./insert-statement.ts";
import { type Steps, UploadSweptError } from "./steps.ts";

type HotPath = Pick<PushStore, "insert" | "claimView">;

const pushExists = sql<[pushId: number], { id: number }>("SELECT id FROM pushes WHERE id = ?");

/**
 * Making a push and counting a view. SQLite runs the steps of a unit without leaving the process; over a network each
 * would be a round trip, so PostgreSQL gets all of them in one statement.
 */
export function createHotPath(db: Database, steps: Steps): HotPath {
  if (db.engine === "sqlite") {
    return {
      insert: (push, audit, dispatch) => insertInUnit(db, steps, push, audit, dispatch),
      claimView: (claim) => db.write((unit) => steps.claimView(unit, claim)),
    };
  }
  return {
    async insert(push, audit, dispatch) {
      if (push.files.length > 0 || dispatch !== undefined) return await insertInUnit(db, steps, push, audit, dispatch);
      await insertInOneStatement(db, push, audit);
      return "inserted";
    },
    claimView: (claim) => claimInOneStatement(db, claim),
  };
}

async function insertInUnit(
  db: Database,
  steps: Steps,
  push: NewPush,
  audit: AuditRecord,
  dispatch: NewDispatch | undefined,
): Promise<InsertOutcome> {
  try {
    await db.write(async (unit) => {
      await steps.insert(unit, push, audit);
      if (dispatch !== undefined) await putDispatch(unit, push.row.id, dispatch);
    });
    return "inserted";
  } catch (error) {
    if (error instanceof UploadSweptError) return "upload_swept";
    if (error instanceof DispatchRefusedError) return error.reason;
    // Ids are used once: a row of this id is this push.
    if (!(error instanceof OutcomeUnknownError) || !(await isThere(db, push.row.id))) throw error;
    return "inserted";
  }
}

async function isThere(db: Database, pushId: number): Promise<boolean> {
  return (await db.patientRead.one(pushExists, pushId)) !== undefined;
}
