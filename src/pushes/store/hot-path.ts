import { type Database, OutcomeUnknownError } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";
import type { AuditRecord } from "../audit-trail.ts";
import type { NewPush, PushStore } from "../store.ts";
import { claimInOneStatement } from "./claim-statement.ts";
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
      insert: (push, audit) => insertInUnit(db, steps, push, audit),
      claimView: (claim) => db.write((unit) => steps.claimView(unit, claim)),
    };
  }
  return {
    async insert(push, audit) {
      if (push.files.length > 0) return await insertInUnit(db, steps, push, audit);
      await insertInOneStatement(db, push, audit);
      return true;
    },
    claimView: (claim) => claimInOneStatement(db, claim),
  };
}

async function insertInUnit(db: Database, steps: Steps, push: NewPush, audit: AuditRecord): Promise<boolean> {
  try {
    await db.write((unit) => steps.insert(unit, push, audit));
    return true;
  } catch (error) {
    if (error instanceof UploadSweptError) return false;
    // Ids are used once: a row of this id is this push.
    if (!(error instanceof OutcomeUnknownError) || !(await isThere(db, push.row.id))) throw error;
    return true;
  }
}

async function isThere(db: Database, pushId: number): Promise<boolean> {
  return (await db.patientRead.one(pushExists, pushId)) !== undefined;
}
