import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type SeededRows, seedEmail, seedPassword, seedRows, seedSettings } from "../test/support/body-targets.ts";
import { isExpected, largestBodies } from "../test/support/largest-bodies.ts";
import { type LargestBody, sendBody } from "../test/support/send-body.ts";
import { assignCores } from "./cores.ts";
import { describeMachine } from "./machine.ts";
import { readOptions } from "./options.ts";
import { peakResidentBytes } from "./process-figures.ts";
import { type Figure, publish } from "./report.ts";
import { runSealpush, startSealpush } from "./sealpush-process.ts";
import { median } from "./statistics.ts";

/**
 * How long one request keeps the server's event loop from everything else: each type of body at its largest, as the server's
 * own metric reports it. Other load on the machine adds to a round, so the median of several counts.
 */

const options = readOptions(process.argv.slice(2));
const rounds = options.short ? 1 : 5;
const stallMsMax = 50;
/** The metric's timer fires at this interval, which its values contain. */
const metricIntervalMs = 10;
const megabyte = 1e6;

const settings = { ...seedSettings, PWP__METRICS__ENABLED: "true", PWP__METRICS__ALLOW_ANONYMOUS: "true" };

const machine = describeMachine();
const cores = assignCores();
const folder = mkdtempSync(join(tmpdir(), "sealpush-bench-"));
const seeded = join(folder, "seeded");
const rows = await seed();
const broken: string[] = [];
const measured = new Map<string, Measurement>();
for (const body of largestBodies(rows)) keepWorst(body, await measure(body));
rmSync(folder, { recursive: true });
const figures = [...measured].flatMap(([route, { stallMs, peakBytes, name }]): Figure[] => [
  { name: `${route}: longest (${name})`, value: stallMs, unit: "ms", wanted: { atMost: stallMsMax } },
  { name: `${route}: server's peak memory`, value: peakBytes / megabyte, unit: "MB" },
]);

process.exitCode = publish(
  {
    benchmark: "Delay of the event loop by one request",
    short: options.short,
    machine,
    conditions: [`${cores.sentence}; one request at a time, ${rounds} rounds, medians; throttling off`],
    figures,
    broken,
  },
  options.json,
);

interface Measurement {
  readonly stallMs: number;
  readonly peakBytes: number;
  /** Of the body that took longest. */
  readonly name: string;
}

/** A data folder with what the bodies are about. Each server starts on a copy of it. */
async function seed(): Promise<SeededRows> {
  runSealpush(seeded, ["user", "create", "--email", seedEmail, "--admin", "--password-stdin"], seedPassword);
  const apiToken = runSealpush(seeded, ["token", "create", "--email", seedEmail, "--name", "bench"], "");
  const server = await startSealpush(cores.server, seeded, settings);
  const made = await seedRows(`http://127.0.0.1:${server.port}`, apiToken);
  await server.end();
  return made;
}

/** On a server of its own, because the garbage of one body would be collected during the next. */
async function measure(body: LargestBody): Promise<Measurement> {
  const dataDir = join(folder, "measured");
  cpSync(seeded, dataDir, { recursive: true });
  const server = await startSealpush(cores.server, dataDir, settings);
  const stalls: number[] = [];
  let status = 0;
  for (let round = 0; round < rounds; round += 1) {
    await sleep(200);
    await readStallMs(server.port);
    status = await sendBody(`http://127.0.0.1:${server.port}`, body);
    stalls.push(await readStallMs(server.port));
    // A later round finds what an earlier one has ended.
    if (round === 0 && !isExpected(body, status)) broken.push(`${body.name}: answered ${status}`);
  }
  const peakBytes = peakResidentBytes(server.pid);
  await server.end();
  rmSync(dataDir, { recursive: true });
  return { stallMs: median(stalls), peakBytes, name: body.name };
}

/** One figure per route: there are hundreds of bodies. */
function keepWorst({ method, path }: LargestBody, { stallMs, peakBytes, name }: Measurement): void {
  const before = measured.get(`${method} ${path}`);
  const isWorse = before === undefined || stallMs > before.stallMs;
  measured.set(`${method} ${path}`, {
    ...(isWorse ? { stallMs, name } : before),
    peakBytes: Math.max(peakBytes, before?.peakBytes ?? 0),
  });
}

/** The longest delay since the last call. */
async function readStallMs(port: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics) ?? [];
  if (seconds === undefined) throw new Error("The server reports no delay of its event loop.");
  return Math.max(0, Number(seconds) * 1_000 - metricIntervalMs);
}
