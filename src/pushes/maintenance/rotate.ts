import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import type { RotatedColumn } from "../../crypto/sealed-column.ts";
import type { Database, ReadConnection } from "../../database/database.ts";
import { createProcessRegistry, type RunningProcess, readKeyMarks } from "../../database/processes.ts";
import { resealColumn, retireKeys } from "../store/reseal.ts";

const batchRows = 100;
/** Several times the duration of a batch, so that claims of the servers get the write lock in between. */
const restMs = 15;

export interface RotationDeps {
  readonly db: Database;
  readonly keyring: Keyring;
  /** All columns under master keys. */
  readonly columns: readonly RotatedColumn[];
  readonly clock: Clock;
  readonly pause: (ms: number) => Promise<void>;
}

/**
 * Reseals every value under an older master key with the active one, live and in batches. No link is needed, so anonymous
 * pushes are included: their row secrets are sealed again. It is safe to interrupt and repeat.
 * @returns `retiredKeyIds`: of master keys that no longer seal anything and can be removed from the configuration.
 * @throws AppError invalid_request while a running process does not know the active key or still seals under another.
 */
export async function rotateKeys(deps: RotationDeps) {
  const { db, keyring } = deps;
  const activeId = keyring.ids[0] ?? "";
  const registry = createProcessRegistry(db);
  const assertUnused = async (connection?: ReadConnection) =>
    assertAllUse(activeId, await registry.running(deps.clock.now(), connection));
  const older = (await readKeyMarks(db.read)).filter((mark) => mark.keyId !== activeId);
  await assertUnused();
  let resealed = 0;
  for (const column of deps.columns) {
    for await (const count of resealColumn(db, keyring, column, batchRows)) {
      resealed += count;
      if (count > 0) await deps.pause(restMs);
    }
  }
  // A process with another key may have started, sealed rows that were already passed, and stopped again.
  if (!(await retireKeys(db, older, assertUnused))) {
    throw new AppError("invalid_request", "A process sealed under an older key meanwhile: rotate once more.");
  }
  return { resealed, retiredKeyIds: older.map((mark) => mark.keyId) };
}

function assertAllUse(activeId: string, running: readonly RunningProcess[]): void {
  const other = running.filter((process) => process.activeKeyId !== activeId);
  if (other.length === 0) return;
  throw new AppError(
    "invalid_request",
    `${other.length} running process(es) do not yet seal under the key ${activeId}: put it first in their ` +
      "PWPUSH_MASTER_KEY, the older one in PWPUSH_MASTER_KEY_PREVIOUS, restart them, then rotate.",
  );
}
