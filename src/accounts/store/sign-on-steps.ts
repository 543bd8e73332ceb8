import type { Database } from "../../db/sqlite.ts";

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

export interface SignOnStepStore {
  /** false: there are too many, of many clients. */
  insertStep(step: NewStep, limits: StepLimits): Promise<boolean>;
  /** @returns what is sealed; undefined: no such step, or one that began before `since`. */
  findStep(digest: Buffer, since: number): Buffer | undefined;
  /** For a unit of `db.write`. false: it is over, or somebody else was first. */
  takeStep(digest: Buffer, since: number): boolean;
  /** @returns how many were deleted, at most `stepsMax`. */
  deleteStepsBefore(createdAt: number, stepsMax: number): Promise<number>;
}

export function createSignOnStepStore(db: Database): SignOnStepStore {
  const insert = db.writer.prepare<[Buffer, Buffer, string, number]>(
    "INSERT INTO sign_on_steps (digest, step_sealed, client, created_at) VALUES (?, ?, ?, ?)",
  );
  const removeOver = db.writer.prepare<[number, number]>(
    "DELETE FROM sign_on_steps WHERE digest IN (SELECT digest FROM sign_on_steps WHERE created_at <= ? LIMIT ?)",
  );
  const dropOldestOf = db.writer.prepare<[string, number]>(
    `DELETE FROM sign_on_steps WHERE digest IN
       (SELECT digest FROM sign_on_steps WHERE client = ? ORDER BY created_at DESC, digest LIMIT -1 OFFSET ?)`,
  );
  const count = db.writer.prepare<[], { steps: number }>("SELECT count(*) AS steps FROM sign_on_steps");
  const find = db.reader.prepare<[Buffer, number], { step_sealed: Buffer }>(
    "SELECT step_sealed FROM sign_on_steps WHERE digest = ? AND created_at > ?",
  );
  const take = db.writer.prepare<[Buffer, number]>("DELETE FROM sign_on_steps WHERE digest = ? AND created_at > ?");
  const overAtOnceMax = 100;
  return {
    insertStep: ({ digest, sealed, client, now }, { since, perClientMax, stepsMax }) =>
      db.write(() => {
        removeOver.run(since, overAtOnceMax);
        dropOldestOf.run(client, perClientMax - 1);
        if ((count.get()?.steps ?? 0) >= stepsMax) return false;
        insert.run(digest, sealed, client, now);
        return true;
      }),
    findStep: (digest, since) => find.get(digest, since)?.step_sealed,
    takeStep: (digest, since) => take.run(digest, since).changes === 1,
    deleteStepsBefore: (createdAt, stepsMax) => db.write(() => removeOver.run(createdAt, stepsMax).changes),
  };
}
