import { statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import type { Domain } from "../src/domain.ts";
import { databaseFile } from "../test/support/database-file.ts";
import { openBenchDomain } from "./bench-domain.ts";
import { sqliteOf } from "./claim-rates.ts";
import { median } from "./statistics.ts";
import { StoredPushes } from "./stored-pushes.ts";

const pageBytes = 4_096;
const frameHeaderBytes = 24;
const logHeaderBytes = 32;
const batch = 64;

export interface LogPages {
  readonly create: number;
  readonly claim: number;
}

/** Pages that SQLite's log gets for 64 creates, and for 64 claims of recent pushes, which arrive together. Medians. */
export async function measureLogPages(folder: string, stored: number, rounds: number): Promise<LogPages> {
  const dataDir = join(folder, "log-pages");
  const domain = await openBenchDomain(dataDir, systemClock);
  const pushes = new StoredPushes(domain, stored + batch);
  await pushes.fillTo(stored);
  const pages: { create: number[]; claim: number[] } = { create: [], claim: [] };
  for (let round = 0; round < rounds; round += 1) {
    pages.create.push(await pagesOf(domain, dataDir, () => pushes.fillTo(stored + batch)));
    const tokens = pushes.take("recent", batch, Math.random);
    pages.claim.push(await pagesOf(domain, dataDir, async () => void (await pushes.claimAll(tokens))));
  }
  await domain.close();
  return { create: median(pages.create), claim: median(pages.claim) };
}

async function pagesOf({ db }: Domain, dataDir: string, work: () => Promise<void>): Promise<number> {
  while (!sqliteOf(db).truncateLog());
  await work();
  const { size } = statSync(`${databaseFile(dataDir)}-wal`);
  return Math.max(0, size - logHeaderBytes) / (pageBytes + frameHeaderBytes);
}
