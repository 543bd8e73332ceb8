import { equalDigests } from "../../crypto/digests.ts";
import type { ReadConnection, Transaction } from "../../database/database.ts";
import { putMeta, readMeta } from "../../database/meta.ts";
import { sql } from "../../database/statement.ts";

/**
 * A row of `meta`: the digests of the newest boot codes, newest first. Each start makes a code, so codes logged on
 * other machines are valid as well. An empty value: the first run is over.
 */
const rowName = "boot_codes";
const over = Buffer.alloc(0);
const digestBytes = 32;
const codesMax = 16;

const findEnd = sql<[name: string, value: Buffer], { one: number }>(
  "SELECT 1 AS one FROM users UNION ALL SELECT 1 FROM meta WHERE name = ? AND value = ? LIMIT 1",
);

/** Whether a user exists or has existed; disabled users count. */
export async function isFirstRunOver(connection: ReadConnection): Promise<boolean> {
  return (await connection.one(findEnd, rowName, over)) !== undefined;
}

/** Voids all boot codes for good. Threat: somebody who kept an old log becomes administrator after the last user is deleted. */
export async function endFirstRun(tx: Transaction): Promise<void> {
  await tx.run(putMeta, rowName, over);
}

/** Requires the accounts lock. */
export async function addBootCode(tx: Transaction, digest: Buffer): Promise<void> {
  const known = (await tx.one(readMeta, rowName))?.value ?? over;
  await tx.run(putMeta, rowName, Buffer.concat([digest, known.subarray(0, (codesMax - 1) * digestBytes)]));
}

export async function isBootCode(connection: ReadConnection, digest: Buffer): Promise<boolean> {
  const known = (await connection.one(readMeta, rowName))?.value ?? over;
  const codes = Array.from({ length: known.length / digestBytes }, (_, at) =>
    known.subarray(at * digestBytes, (at + 1) * digestBytes),
  );
  return codes.some((code) => equalDigests(code, digest));
}
