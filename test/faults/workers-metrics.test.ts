import { expect, it } from "vitest";
import { metricsOn, metricsToken, type Series, seriesIn } from "../support/metrics.ts";
import { newDataDir } from "../support/processes.ts";
import { type ServerProcess, startWorkers } from "../support/server.ts";

/** Sends each request on its own connection, so that workers take turns. */
async function ask({ baseUrl }: ServerProcess, path: string): Promise<string> {
  const headers = { connection: "close", authorization: `Bearer ${metricsToken}` };
  const answer = await fetch(`${baseUrl}${path}`, { headers });
  expect(answer.status).toBe(200);
  return await answer.text();
}

const scrape = async (server: ServerProcess): Promise<Series> => seriesIn(await ask(server, "/metrics"));
const versions = 'sealpush_http_requests_total{method="GET",route="/api/v2/version",status="200"}';

it("any worker reports the counts of all workers, and replacing workers loses none", async () => {
  const server = await startWorkers(2, { dataDir: newDataDir(), environment: metricsOn });
  for (let at = 0; at < 20; at += 1) await ask(server, "/api/v2/version");
  for (let at = 0; at < 4; at += 1) expect((await scrape(server)).get(versions)).toBe(20);
  await ask(server, "/api/v2/version");

  process.kill(server.pid, "SIGHUP");
  await server.logged("roll_done");
  for (let at = 0; at < 3; at += 1) expect((await scrape(server)).get(versions)).toBe(21);
  await ask(server, "/api/v2/version");
  expect((await scrape(server)).get(versions)).toBe(22);
  expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
});
