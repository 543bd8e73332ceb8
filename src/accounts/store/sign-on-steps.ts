import type { Database, WriteConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { allBeyond } from "./users.ts";

export interface NewStep {
  readonly digest: Buffer;
  readonly sealed: Buffer;
  /** Throttle key of whoever begins it. */
  readonly client: string;
  readonly now: number;
}

export interface StepLimits {
  /** Steps that began earlier are over. */
  readonly since: number;
  /** Beyond it the client's own oldest go. */
  readonly perClientMax: number;
  readonly stepsMax: number;
}

const insertRow = sql<[digest: Buffer, sealed: Buffer, client: string, createdAt: number]>(
  "INSERT INTO sign_on_steps (digest, step_sealed, client, created_at) VALUES (?, ?, ?, ?)",
);
const over = "SELECT digest FROM sign_on_steps WHERE created_at <= ? LIMIT ?";
const removeOver = sql<[createdAt: number, stepsMax: number]>({
  sqlite: `DELETE FROM sign_on_steps WHERE digest IN (${over})`,
  // As an array, which is read once: a join could run the limited reading anew for each row.
  postgres: `DELETE FROM sign_on_steps WHERE digest = ANY (ARRAY(${over} FOR UPDATE SKIP LOCKED))`,
});
const dropOldestOf = sql<[client: string, keptMax: number]>(
  `DELETE FROM sign_on_steps WHERE digest IN
     (SELECT digest FROM sign_on_steps WHERE client = ? ORDER BY created_at DESC, digest ${allBeyond})`,
);
const countSteps = sql<[], { steps: number }>("SELECT count(*) AS steps FROM sign_on_steps");
const stepByDigest = sql<[digest: Buffer, since: number], { sealed: Buffer }>(
  "SELECT step_sealed AS sealed FROM sign_on_steps WHERE digest = ? AND created_at > ?",
);
const removeStep = sql<[digest: Buffer, since: number]>(
  "DELETE FROM sign_on_steps WHERE digest = ? AND created_at > ?",
);
const overAtOnceMax = 100;

export type SignOnStepStore = ReturnType<typeof createSignOnStepStore>;

export function createSignOnStepStore(db: Database) {
  return {
    /** false: there are too many, of many clients. */
    insertStep: (
      { digest, sealed, client, now }: NewStep,
      { since, perClientMax, stepsMax }: StepLimits,
    ): Promise<boolean> =>
      db.writeSerialized("accounts", async (tx) => {
        await tx.run(removeOver, since, overAtOnceMax);
        await tx.run(dropOldestOf, client, perClientMax - 1);
        if (((await tx.one(countSteps))?.steps ?? 0) >= stepsMax) return false;
        await tx.run(insertRow, digest, sealed, client, now);
        return true;
      }),
    /** @returns what is sealed; undefined: no such step, or one that began before `since`. */
    findStep: async (digest: Buffer, since: number): Promise<Buffer | undefined> =>
      (await db.read.one(stepByDigest, digest, since))?.sealed,
    /** false: it is over, or somebody else was first. */
    takeStep: async (writing: WriteConnection, digest: Buffer, since: number): Promise<boolean> =>
      (await writing.run(removeStep, digest, since)) === 1,
    /** @returns how many were deleted, at most `stepsMax`. */
    deleteStepsBefore: (createdAt: number, stepsMax: number): Promise<number> =>
      db.autocommit({ retry: "whenNotExecuted" }).run(removeOver, createdAt, stepsMax),
  };
}
