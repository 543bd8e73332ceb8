import { randomFillSync } from "node:crypto";
import type { PoolClient } from "pg";
import { createIds, type Ids } from "../src/db/ids.ts";
import { openPool } from "../src/db/postgres/pool.ts";
import type { NewPush, PushRow } from "../src/pushes/store.ts";
import { postgresSettings } from "../test/support/postgres/settings.ts";
import { bareDatabase, bareHotPath } from "./bare-database.ts";
import type { DatabaseJob, DatabasePlace, DatabaseResult, RowShape } from "./database-job.ts";

/**
 * A process of its own that sends the statements of creates and claims as fast as the database takes them. What it has
 * created it keeps, so that a later job can claim it.
 */

type Lane = ReturnType<typeof laneOn>;

const digestBytes = 32;
const saltBytes = 16;
const dayMs = 86_400_000;
const audit = { userId: null, address: "127.0.0.1", userAgent: "", referrer: "" };
const stored: Buffer[] = [];

function laneOn(connection: PoolClient) {
  const db = bareDatabase(connection);
  return { db, hotPath: bareHotPath(db) };
}

async function create({ hotPath }: Lane, ids: Ids, shape: RowShape): Promise<void> {
  const push = newPush(await ids.next(), shape);
  await hotPath.insert(push, { ...audit, kind: "creation", at: push.row.createdAt });
  stored.push(push.tokenDigest);
}

async function claim({ hotPath }: Lane, tokenDigest: Buffer): Promise<void> {
  const sealed = await hotPath.findSealed(tokenDigest);
  if (sealed === undefined) throw new Error("A stored push was not found.");
  const now = Date.now();
  const claimed = await hotPath.claimView({
    pushId: sealed.row.id,
    claimId: randomBytes(6).readUIntBE(0, 6),
    sealGeneration: sealed.row.sealGeneration,
    now,
    counted: true,
    seen: { ...sealed.row, hasFiles: sealed.hasFiles },
    audit: { ...audit, kind: "view", at: now },
    blobsDueAt: now + dayMs,
  });
  if (claimed === undefined) throw new Error("A living push refused a view.");
}

function newPush(id: number, shape: RowShape): NewPush {
  const now = Date.now();
  const row: PushRow = {
    ...{ id, kind: "text", ownerId: null, createdAt: now, updatedAt: now, expiresAt: now + 7 * dayMs },
    ...{ endedAt: null, endReason: null, expireAfterDays: 7, expireAfterViews: 1, views: 0, refusals: 0 },
    ...{ deletableByViewer: true, retrievalStep: true, sealGeneration: 1, linkSalt: randomBytes(saltBytes) },
    ...{ passphraseSalt: null, tokenSealed: null, nameSealed: null, noteSealed: null },
  };
  return {
    row,
    tokenDigest: randomBytes(digestBytes),
    dataKeySealed: randomBytes(shape.dataKeyBytes),
    payloadSealed: randomBytes(shape.payloadBytes),
    files: [],
    storedBytes: shape.payloadBytes,
  };
}

function randomBytes(bytes: number): Buffer {
  return randomFillSync(Buffer.allocUnsafe(bytes));
}

async function run(job: DatabaseJob, lanes: readonly Lane[], ids: Ids, shape: RowShape): Promise<DatabaseResult> {
  const startedAt = performance.now();
  const deadline = startedAt + job.durationMs;
  let done = 0;
  await Promise.all(
    lanes.slice(0, job.connections).map(async (lane) => {
      while (performance.now() < deadline) {
        if (job.what === "create") await create(lane, ids, shape);
        else {
          const tokenDigest = stored.pop();
          if (tokenDigest === undefined) return;
          await claim(lane, tokenDigest);
        }
        done += 1;
      }
    }),
  );
  return { done, elapsedMs: performance.now() - startedAt };
}

async function serve({ url, connectionsMax, shape }: DatabasePlace): Promise<void> {
  const pool = openPool(postgresSettings(url, { poolMax: connectionsMax }), (code) => {
    throw new Error(`A connection broke: ${code}`);
  });
  const lanes = await Promise.all(Array.from({ length: connectionsMax }, async () => laneOn(await pool.connect())));
  const [first] = lanes;
  if (first === undefined) throw new Error("There is no connection.");
  // The product's ids, so that both draw from one sequence.
  const ids = createIds(first.db, "pushes");
  process.on("message", (job: DatabaseJob) => {
    run(job, lanes, ids, shape).then((result) => process.send?.(result), fail);
  });
  process.send?.("ready");
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}

process.once("message", (place: DatabasePlace) => {
  serve(place).catch(fail);
});
