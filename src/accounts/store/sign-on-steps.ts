import type { Database, ReadConnection, Transaction, WriteConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { keysOfWidestNetwork } from "../../limits/client-shares.ts";
import { signOnSteps } from "./tables.ts";
import { allBeyond } from "./users.ts";

export interface NewStep {
  readonly digest: Buffer;
  readonly sealed: Buffer;
  /** Throttle key of the client that begins the step. */
  readonly client: string;
  readonly now: number;
}

export interface StepLimits {
  /** Steps that began earlier have expired. */
  readonly since: number;
  /** The client's oldest steps beyond it are removed, and those of its IPv6 /48 beyond twice as many. */
  readonly perClientMax: number;
  readonly stepsMax: number;
}

const insertRow = signOnSteps.insert();
const expired = "SELECT digest FROM sign_on_steps WHERE created_at <= ? LIMIT ?";
const removeExpired = sql<[createdAt: number, stepsMax: number]>({
  sqlite: `DELETE FROM sign_on_steps WHERE digest IN (${expired})`,
  // As an array, which is evaluated once: a join could run the limited SELECT again for each row.
  postgres: `DELETE FROM sign_on_steps WHERE digest = ANY (ARRAY(${expired} FOR UPDATE SKIP LOCKED))`,
});
const dropOldestOf = sql<[client: string, keptMax: number]>(
  `DELETE FROM sign_on_steps WHERE digest IN
     (SELECT digest FROM sign_on_steps WHERE client = ? ORDER BY created_at DESC, digest ${allBeyond})`,
);
const dropOldestBetween = sql<[firstClient: string, endClient: string, keptMax: number]>(
  `DELETE FROM sign_on_steps WHERE digest IN
     (SELECT digest FROM sign_on_steps WHERE client >= ? AND client < ? ORDER BY created_at DESC, digest ${allBeyond})`,
);
const countSteps = sql<[], { steps: number }>("SELECT count(*) AS steps FROM sign_on_steps");
const stepByDigest = signOnSteps
  .pick("stepSealed")
  .select<[digest: Buffer, since: number]>("WHERE digest = ? AND created_at > ?");
const removeStep = sql<[digest: Buffer, since: number]>(
  "DELETE FROM sign_on_steps WHERE digest = ? AND created_at > ?",
);
const replaceStep = sql<[sealed: Buffer, digest: Buffer]>("UPDATE sign_on_steps SET step_sealed = ? WHERE digest = ?");
const expiredAtOnceMax = 100;

export type SignOnStepStore = ReturnType<typeof createSignOnStepStore>;

export function createSignOnStepStore(db: Database) {
  return {
    /** @returns false: there are too many steps of all clients together. */
    insertStep: (
      { digest, sealed, client, now }: NewStep,
      { since, perClientMax, stepsMax }: StepLimits,
    ): Promise<boolean> =>
      db.writeSerialized("accounts", async (tx) => {
        await tx.run(removeExpired, since, expiredAtOnceMax);
        await tx.run(dropOldestOf, client, perClientMax - 1);
        const network = keysOfWidestNetwork(client);
        if (network !== undefined) {
          await tx.run(dropOldestBetween, network.first, network.end, perClientMax * network.shares - 1);
        }
        if (((await tx.one(countSteps))?.steps ?? 0) >= stepsMax) return false;
        await tx.run(insertRow, ...signOnSteps.values({ digest, stepSealed: sealed, client, createdAt: now }));
        return true;
      }),
    /** @returns the sealed step; undefined: there is none, or it began before `since`. */
    findStep: async (digest: Buffer, since: number, tx: ReadConnection = db.read): Promise<Buffer | undefined> =>
      (await tx.one(stepByDigest, digest, since))?.stepSealed,
    /** It keeps its time. */
    async replaceStep(tx: Transaction, digest: Buffer, sealed: Buffer): Promise<void> {
      await tx.run(replaceStep, sealed, digest);
    },
    /** @returns false: it has expired, or another request has taken it. */
    takeStep: async (writing: WriteConnection, digest: Buffer, since: number): Promise<boolean> =>
      (await writing.run(removeStep, digest, since)) === 1,
    /** @returns how many were deleted, at most `stepsMax`. */
    deleteStepsBefore: (createdAt: number, stepsMax: number): Promise<number> =>
      db.autocommit({ retry: "whenNotExecuted" }).run(removeExpired, createdAt, stepsMax),
  };
}
