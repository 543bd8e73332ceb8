import { createHash } from "node:crypto";
import { join } from "node:path";
import type { PoolClient } from "pg";
import { dayMs, systemClock } from "../src/base/clock.ts";
import { ConnectionPool } from "../src/database/postgres/pool.ts";
import type { Domain } from "../src/domain.ts";
import type { HotPath } from "../src/pushes/store/push-store.ts";
import { postgresSettings } from "../test/support/postgres/settings.ts";
import { bareDatabase, bareHotPath } from "./bare-database.ts";
import { bareAddress, claimBarePush } from "./bare-push.ts";
import { inParallel, openBenchDomain, stranger } from "./bench-domain.ts";
import { type ClaimPattern, chooseClaims } from "./claim-choice.ts";
import { type DatabaseServer, shapeOfRows } from "./database-server.ts";

/** Rows per second without pauses, and the cost of each in the database. */
export interface SweepSpeed {
  readonly perSecond: number;
  readonly databaseMicros: number;
}

/** The cost of a segment of claims. */
export interface Segment {
  readonly perSecond: number;
  readonly databaseMicros: number;
  readonly logBytes: number;
}

const connections = 10;
const tables = ["pushes", "row_secrets", "payloads"] as const;
/** Above all ids that the product has assigned. */
const firstId = 1_000_000;
const madeAtOnce = 50_000;
/** The size of a batch of the sweeper. */
const sweepBatchRows = 50;

/** Created by SQL: a million rows through the product would take minutes. Random values are digests here. */
function rowsFrom(first: number, last: number, rowSecretBytes: number, payloadBytes: number): string {
  const now = Date.now();
  const bytes = (length: number) =>
    `substring(decode(repeat(md5(id::text), ${Math.ceil(length / 16)}), 'hex'), 1, ${length})`;
  const ids = `generate_series(${first}, ${last}) AS id`;
  return `
    INSERT INTO pushes (id, link_check, kind, created_at, updated_at, expires_at, expire_after_days, expire_after_views,
      views, refusals, audit_count, deletable_by_viewer, retrieval_step, seal_generation, row_secret_id, stored_bytes, creator_address, key_check)
    SELECT id, decode(md5(id::text), 'hex'), 0, ${now} + id, ${now} + id, ${now + 7 * dayMs} + id, 7, 1, 0, 0, 1,
      1, 1, 1, id, ${payloadBytes}, '127.0.0.1', ${bytes(32)} FROM ${ids};
    INSERT INTO row_secrets (id, sealed) SELECT id, ${bytes(rowSecretBytes)} FROM ${ids};
    INSERT INTO payloads (push_id, sealed) SELECT id, ${bytes(payloadBytes)} FROM ${ids}`;
}

function checkOf(id: number): Buffer {
  return createHash("md5").update(String(id)).digest();
}

/** A PostgreSQL database of one-view pushes whose size stays about the same while they are claimed. */
export class StoredRows {
  readonly #server: DatabaseServer;
  readonly #name: string;
  readonly #clients: readonly PoolClient[];
  readonly #lanes: readonly HotPath[];
  readonly #endPool: () => Promise<void>;
  readonly #openDomain: () => Promise<Domain>;
  readonly #shape: Awaited<ReturnType<typeof shapeOfRows>>;
  /** Those that have not been claimed, in the order of creation. */
  #ids: number[] = [];
  #nextId = firstId;

  private constructor(
    server: DatabaseServer,
    name: string,
    {
      shape,
      clients,
      endPool,
      openDomain,
    }: {
      readonly shape: Awaited<ReturnType<typeof shapeOfRows>>;
      readonly clients: readonly PoolClient[];
      readonly endPool: () => Promise<void>;
      readonly openDomain: () => Promise<Domain>;
    },
  ) {
    this.#server = server;
    this.#name = name;
    this.#shape = shape;
    this.#clients = clients;
    this.#lanes = clients.map((client) => bareHotPath(bareDatabase(client)));
    this.#endPool = endPool;
    this.#openDomain = openDomain;
  }

  /** @param folder the data folder of the product. */
  static async make(server: DatabaseServer, folder: string, name: string): Promise<StoredRows> {
    await server.makeDatabase(name);
    const url = server.url(name);
    const openDomain = () => openBenchDomain(join(folder, name), systemClock, { DATABASE_URL: url });
    const domain = await openDomain();
    await domain.pushes.create({ payload: "correct horse battery staple 4711 $%&/()", expireAfterViews: 1 }, stranger);
    await domain.close();
    const shape = await shapeOfRows(server, name);
    const pool = new ConnectionPool(postgresSettings(url, { poolMax: connections }), (code) => {
      throw new Error(`A connection broke: ${code}`);
    });
    const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
    return new StoredRows(server, name, { shape, clients, endPool: () => pool.close(), openDomain });
  }

  async fillTo(count: number): Promise<void> {
    const { rowSecretBytes, payloadBytes } = this.#shape;
    while (this.#ids.length < count) {
      const first = this.#nextId;
      const last = first + Math.min(madeAtOnce, count - this.#ids.length) - 1;
      await this.#server.run(this.#name, rowsFrom(first, last, rowSecretBytes, payloadBytes));
      for (let id = first; id <= last; id += 1) this.#ids.push(id);
      this.#nextId = last + 1;
    }
  }

  /** What autovacuum does: updates statistics and frees the space of deleted rows. */
  async vacuum(): Promise<void> {
    await this.#server.run(this.#name, "VACUUM ANALYZE");
  }

  async checkpoint(): Promise<void> {
    await this.#server.run(this.#name, "CHECKPOINT");
  }

  /** Bytes on disk per stored push, with indexes, by table. */
  async bytesPerPush(): Promise<ReadonlyMap<(typeof tables)[number], number>> {
    const sizes = new Map<(typeof tables)[number], number>();
    for (const table of tables) {
      const { bytes } = await this.#server.row(this.#name, `SELECT pg_total_relation_size('${table}') AS bytes`);
      sizes.set(table, Number(bytes) / this.#ids.length);
    }
    return sizes;
  }

  /** Claims on all connections concurrently. */
  async claim(pattern: ClaimPattern, claims: number, random: () => number): Promise<Segment> {
    const chosen = new Set(chooseClaims(pattern, this.#ids.length, claims, random));
    const ids = [...chosen].map((at) => this.#ids[at]);
    this.#ids = this.#ids.filter((_, at) => !chosen.has(at));
    const free = [...this.#lanes];
    const logBefore = await this.#logBytes();
    const cpuBefore = this.#server.cpuMs();
    const startedAt = performance.now();
    await inParallel(ids.length, connections, async (at) => {
      const lane = free.pop();
      const id = ids[at];
      if (lane === undefined || id === undefined) throw new Error("There is no connection, or nothing to claim.");
      await claimBarePush(lane, bareAddress(id, checkOf(id)));
      free.push(lane);
    });
    const elapsedMs = performance.now() - startedAt;
    const cpuMs = this.#server.cpuMs() - cpuBefore;
    return {
      perSecond: (claims / elapsedMs) * 1_000,
      databaseMicros: (cpuMs / claims) * 1_000,
      logBytes: ((await this.#logBytes()) - logBefore) / claims,
    };
  }

  /** The sweeper's batches, one after the other: first everything has expired, then everything may be removed. */
  async sweep(batches: number): Promise<{ readonly ends: SweepSpeed; readonly removals: SweepSpeed }> {
    const { store, close } = await this.#openDomain();
    const after = Date.now() + 365 * dayMs;
    const speedOf = async (step: () => Promise<number>): Promise<SweepSpeed> => {
      const cpuBefore = this.#server.cpuMs();
      const startedAt = performance.now();
      let rows = 0;
      for (let batch = 0; batch < batches; batch += 1) rows += await step();
      const elapsedMs = performance.now() - startedAt;
      return {
        perSecond: (rows / elapsedMs) * 1_000,
        databaseMicros: ((this.#server.cpuMs() - cpuBefore) / rows) * 1_000,
      };
    };
    const ends = await speedOf(() => store.upkeep.endDue(after, sweepBatchRows, 0));
    const removals = await speedOf(() => store.upkeep.removeTombstones(after, sweepBatchRows));
    await close();
    return { ends, removals };
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.release();
    await this.#endPool();
  }

  async #logBytes(): Promise<number> {
    return await this.#server.logBytes(this.#name);
  }
}
