import { performance } from "node:perf_hooks";
import { type Answer, Connection } from "./connection.ts";
import { Latencies } from "./latencies.ts";
import type { LoadJob, LoadResult } from "./load-job.ts";

/**
 * The load generator, a separate process: gets a job from its parent, runs it in a closed loop and answers with figures.
 * It keeps the tokens of created pushes, so that a later job can claim them.
 */

const tokenKey = Buffer.from('"url_token":"');
let tokens: string[] = [];

function requestsOf(job: LoadJob): readonly Buffer[] {
  if (job.each === "same") return [Buffer.from(job.request, "latin1")];
  if (job.shuffles === true) shuffle(tokens);
  const paths = job.each === "kept_token" ? tokens : job.madeUpTokens;
  return paths.map((token) => Buffer.from(job.request.replace("TOKEN", token), "latin1"));
}

function shuffle(list: string[]): void {
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [list[last], list[other]] = [list[other] ?? "", list[last] ?? ""];
  }
}

function keepToken(body: Buffer): void {
  const at = body.indexOf(tokenKey) + tokenKey.length;
  tokens.push(body.toString("latin1", at, body.indexOf('"', at)));
}

function portOf({ ports }: LoadJob, connection: number): number {
  const port = ports[connection % ports.length];
  if (port === undefined) throw new Error("The job names no port.");
  return port;
}

async function run(job: LoadJob): Promise<LoadResult> {
  const requests = requestsOf(job);
  const requestsMax = job.each === "kept_token" ? requests.length : (job.requestsMax ?? Number.POSITIVE_INFINITY);
  const latencies = new Latencies();
  const statuses = new Map<number, number>();
  const finished = Promise.withResolvers<void>();
  let sent = 0;
  let running = 0;
  let startedAt = 0;
  let deadline = 0;

  const opened = Array.from({ length: job.connections }, async (_, at) => {
    let sentAt = 0;
    const next = () => {
      const request = requests[sent % requests.length];
      if (request === undefined) throw new Error("There is nothing to send.");
      sent += 1;
      sentAt = performance.now();
      connection.send(request);
    };
    const answered = (answer: Answer) => {
      const now = performance.now();
      latencies.record((now - sentAt) * 1_000);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (job.keepTokens && answer.status === 201) keepToken(answer.body);
      const isInTime = now < deadline || job.requestsMax !== undefined;
      if (isInTime && sent < requestsMax) return next();
      connection.close();
      running -= 1;
      if (running === 0) finished.resolve();
    };
    const connection = await Connection.open(portOf(job, at), answered, finished.reject);
    return next;
  });
  const starts = await Promise.all(opened);

  const cpuBefore = process.cpuUsage();
  startedAt = performance.now();
  deadline = startedAt + job.durationMs;
  running = starts.length;
  for (const start of starts) start();
  await finished.promise;
  const elapsedMs = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  if (job.each === "kept_token") tokens = job.shuffles === true ? tokens.slice(sent) : [];
  return {
    requests: latencies.count,
    elapsedMs,
    statuses: Object.fromEntries(statuses),
    p50Micros: latencies.percentile(0.5),
    p99Micros: latencies.percentile(0.99),
    clientShare: (cpu.user + cpu.system) / 1_000 / elapsedMs,
    keptTokens: tokens.length,
  };
}

process.on("message", (job: LoadJob) => {
  run(job).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
