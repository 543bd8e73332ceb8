import { expect, it } from "vitest";
import { newDataDir } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

it.each(["4", "auto"])(
  "on SQLite a server configured with %s workers stays one process and says why",
  async (count) => {
    const server = await startServer({ dataDir: newDataDir(), environment: { WEB_CONCURRENCY: count } });
    const lines = server.logLines.filter((line) => line.includes("WEB_CONCURRENCY"));
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      {
        event: "setting_warning",
        msg: `WEB_CONCURRENCY is ${count}, but the server stays one process: SQLite has one writer at a time, so several processes would only wait for each other. Several need PostgreSQL.`,
      },
    ]);
    expect(server.logLines.filter((line) => /"event":"server_started"/.test(line))).toHaveLength(1);
    expect(server.logLines.some((line) => line.includes('"worker_started"'))).toBe(false);
  },
);
