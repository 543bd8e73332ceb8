import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { launchServer, type ServerProcess } from "./server.ts";

export interface SharedServers {
  readonly dataDir: string;
  readonly baseUrls: readonly string[];
  /** The servers, one after the other and round again. */
  urlOf(index: number): string;
}

/**
 * Servers on one data folder that all tests of a file or of a `describe` use: starting one costs as much as some hundred requests.
 * They are started before the tests.
 */
export function shareServers(count: number): SharedServers {
  const dataDir = join(mkdtempSync(join(tmpdir(), "sealpush-")), "data");
  const servers: ServerProcess[] = [];
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    while (servers.length < count) servers.push(await launchServer({ dataDir }, (end) => ends.push(end)));
  });
  afterAll(async () => {
    for (const end of ends) await end();
    rmSync(join(dataDir, ".."), { recursive: true, force: true });
  });
  return {
    dataDir,
    get baseUrls() {
      return servers.map(({ baseUrl }) => baseUrl);
    },
    urlOf: (index) => servers[index % count]?.baseUrl ?? "",
  };
}
