import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { assignCores } from "./cores.ts";
import { type LargestBody, largestBodies } from "./largest-bodies.ts";
import { describeMachine } from "./machine.ts";
import { readOptions } from "./options.ts";
import { peakResidentBytes } from "./process-figures.ts";
import { type Figure, publish } from "./report.ts";
import { startSealpush } from "./sealpush-process.ts";
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
const connectionClosed = 0;

const settings = {
  PWP__METRICS__ENABLED: "true",
  PWP__METRICS__ALLOW_ANONYMOUS: "true",
  PWP__FILES__ALLOW_ANONYMOUS: "true",
};

const machine = describeMachine();
const cores = assignCores();
const dataDir = mkdtempSync(join(tmpdir(), "sealpush-bench-"));
const figures: Figure[] = [];
const broken: string[] = [];
for (const body of largestBodies()) await measure(body);
rmSync(dataDir, { recursive: true });

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

/** On a server of its own, because the garbage of one body would be collected during the next. */
async function measure(body: LargestBody): Promise<void> {
  const server = await startSealpush(cores.server, join(dataDir, body.name.replace(/\W+/g, "-")), settings);
  const stalls: number[] = [];
  let status = 0;
  for (let round = 0; round < rounds; round += 1) {
    await sleep(200);
    await readStallMs(server.port);
    status = await send(server.port, body);
    stalls.push(await readStallMs(server.port));
  }
  const peak = peakResidentBytes(server.pid);
  await server.end();
  if (status !== body.status && !(status === connectionClosed && body.status >= 400))
    broken.push(`${body.name}: answered ${status} instead of ${body.status}`);
  figures.push(
    { name: body.name, value: median(stalls), unit: "ms", wanted: { atMost: stallMsMax } },
    { name: `${body.name}: server's peak memory`, value: peak / megabyte, unit: "MB" },
  );
}

/** The longest delay since the last call. */
async function readStallMs(port: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics) ?? [];
  if (seconds === undefined) throw new Error("The server reports no delay of its event loop.");
  return Math.max(0, Number(seconds) * 1_000 - metricIntervalMs);
}

function send(port: number, { path, type, chunks }: LargestBody): Promise<number> {
  const headers = type === undefined ? {} : { "content-type": type };
  const request = httpRequest({ host: "127.0.0.1", port, method: "POST", path, headers });
  return new Promise((resolve, reject) => {
    // A refused client that goes on sending is cut, maybe before it has read the answer.
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET" || error.code === "EPIPE") resolve(connectionClosed);
      else reject(error);
    });
    request.on("response", (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    Readable.from(chunks()).pipe(request);
  });
}
