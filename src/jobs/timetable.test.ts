import { afterEach, expect, test, vi } from "vitest";
import { clientAt, password } from "../../test/support/accounts.ts";
import { countEveryone, openTestDomain, stranger, type TestDomain } from "../../test/support/domain.ts";
import { countRows } from "../../test/support/engine-database.ts";
import { startMailSink } from "../../test/support/mail-sink.ts";
import { dayMs, type Every, hourMs, minuteMs, secondMs, systemEvery } from "../base/clock.ts";
import { ClockTrust } from "../base/clock-trust.ts";
import { jobNames } from "../database/job-runs.ts";
import { createProcessRegistry, heartbeatMs, markKey, unseenAfterMs } from "../database/processes.ts";
import { replaceAccessSecret } from "../pushes/vault.ts";
import { createEvents, type Events } from "../telemetry/events.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startTimetable } from "./timetable.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** No test but those that say otherwise changes secrets. */
function onSecretsMissed(error: Error): void {
  throw error;
}

/** Events as they are, but for the end of a sweep, which the test waits for. */
function watchSweeps(events: Events) {
  let resolveSweep: (() => void) | undefined;
  const jobDone: Events["jobDone"] = (job, counts) => {
    events.jobDone(job, counts);
    if (job === "sweep") resolveSweep?.();
  };
  const nextSweep = () =>
    new Promise<void>((resolve) => {
      resolveSweep = resolve;
    });
  return { events: { ...events, jobDone }, nextSweep };
}

test("reports that nothing is removed after a trusted clock has jumped", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  await using fixture = await openTestDomain();
  const lines: string[] = [];
  let monotonic = 0;
  const logger = createLogger("info", { write: (line: string) => lines.push(line) });
  const { events, nextSweep } = watchSweeps(createEvents({ logger, clock: fixture.clock }));
  const first = nextSweep();
  const timetable = await startTimetable(
    { ...fixture.domain, clockTrust: new ClockTrust(fixture.clock, () => monotonic) },
    { ...fixture.effects, every: systemEvery, onSecretsMissed },
    events,
  );
  await first;

  const sweepAfter = async (realMs: number, clockMs: number) => {
    monotonic += realMs;
    fixture.clock.advance(clockMs);
    const swept = nextSweep();
    // `jobDone` is called just before the next run becomes possible.
    await new Promise(setImmediate);
    vi.advanceTimersByTime(minuteMs);
    await swept;
  };
  await sweepAfter(11 * minuteMs, 11 * minuteMs);
  expect(lines.join("")).not.toContain("sweep_paused");
  await sweepAfter(minuteMs, 5 * hourMs);
  expect(lines.filter((line) => line.includes("sweep_paused"))).toHaveLength(1);
  await timetable.stop();
});

test("unconfirmed accounts, failed emails and requests that a wrong clock makes old stay until the clock is trusted", async () => {
  const sink = await startMailSink();
  await using fixture = await openTestDomain({ environment: sink.environment });
  const { domain, clock, effects } = fixture;
  const eve = "eve@example.com";
  await domain.accounts.createUser({ email: "admin@example.com", password, admin: true });
  await domain.accounts.signUp({ email: eve, password, language: "en", client: clientAt(eve) });
  const findEve = () => domain.accounts.findUserByEmail(eve);
  const called: string[] = [];
  const mail = { ...domain.mail, removeOldFailures: async () => called.push("failed emails") };
  const removeOld = async () => called.push("requests");
  let monotonic = 0;
  const clockTrust = new ClockTrust(clock, () => monotonic);
  const watched = { ...domain, clockTrust, mail, requests: { ...domain.requests, removeOld } };
  /** One run of each hourly job after a sweep. */
  const runHourly = async () => {
    const { events, nextSweep } = watchSweeps(quietEvents(clock));
    const { every, tick } = manualTimes();
    const swept = nextSweep();
    const timetable = await startTimetable(watched, { ...effects, every, onSecretsMissed }, events);
    await swept;
    // `jobDone` is called just before the next run becomes possible.
    await new Promise(setImmediate);
    tick(hourMs);
    await timetable.stop();
  };
  clock.advance(20 * 365 * dayMs);
  await runHourly();
  expect(await findEve()).toBeDefined();
  expect(called).toEqual([]);

  monotonic += 11 * minuteMs;
  clock.advance(11 * minuteMs);
  await runHourly();
  expect(await findEve()).toBeUndefined();
  expect(called.toSorted()).toEqual(["failed emails", "requests"]);
});

test("copies for repeated claims are removed while a sweep hangs", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  await using fixture = await openTestDomain();
  const { pushes, store, db } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "hunter2", expireAfterViews: 1 }, stranger);
  await pushes.claimView(urlToken, { ...countEveryone, idempotencyKey: "a-random-key-of-the-client" }, stranger);
  fixture.clock.advance(minuteMs);
  const hanging = Promise.withResolvers<readonly number[]>();
  const removed = Promise.withResolvers<void>();
  const events = createEvents({ logger: createLogger("info", { write: () => undefined }), clock: fixture.clock });
  const jobDone: Events["jobDone"] = (job) => {
    if (job === "claim retries") removed.resolve();
  };
  const upkeep = { ...store.upkeep, departedOwners: () => hanging.promise };
  const timetable = await startTimetable(
    { ...fixture.domain, store: { ...store, upkeep } },
    { ...fixture.effects, every: systemEvery, onSecretsMissed },
    { ...events, jobDone },
  );
  await removed.promise;
  expect(await countRows(db, "claim_retries")).toBe(0);
  expect(await countRows(db, "payloads")).toBe(0);
  hanging.resolve([]);
  await timetable.stop();
});

test("a run of a job waits for the one before it, and a stop ends all and records it", async () => {
  await using fixture = await openTestDomain();
  const { domain, effects, clock } = fixture;
  const { every, tick } = manualTimes();
  const held = Promise.withResolvers<void>();
  let runs = 0;
  const refresh = async () => {
    runs += 1;
    await held.promise;
  };
  let stopSignal: AbortSignal | undefined;
  const deliverDue = async (stop: AbortSignal) => {
    stopSignal = stop;
  };
  const replaced = { branding: { ...domain.branding, refresh }, mail: { ...domain.mail, deliverDue } };
  const timetable = await startTimetable(
    { ...domain, ...replaced },
    { ...effects, every, onSecretsMissed },
    quietEvents(clock),
  );
  tick(secondMs);
  tick(secondMs);
  expect(runs).toBe(1);
  held.resolve();
  const runsAfterNext = () => {
    tick(secondMs);
    return runs;
  };
  await expect.poll(runsAfterNext).toBe(2);
  clock.advance(secondMs);
  await expect.poll(runsAfterNext).toBe(3);
  const stopping = timetable.stop();
  expect(stopSignal?.aborted).toBe(true);
  await stopping;
  expect(runsAfterNext()).toBe(3);
  expect(await createProcessRegistry(domain.db).running(clock.now())).toEqual([]);
  const theme = (await domain.jobs.list()).find(({ name }) => name === "theme");
  expect(theme).toMatchObject({ startedAt: clock.now(), succeededAt: clock.now() });
});

async function replaceSecret({ domain: { db, keyring }, effects: { random } }: TestDomain): Promise<void> {
  await db.writeSerialized("keys", async (tx) => {
    await replaceAccessSecret(tx, { keyring, random, onForgedRow: () => undefined });
  });
}

const replacedSince = "The access secret was replaced since this server process started: start it again.";

test("a process that read the access secret before it was replaced does not start", async () => {
  await using fixture = await openTestDomain();
  const { domain, effects, clock } = fixture;
  await replaceSecret(fixture);
  const starting = startTimetable(domain, { ...effects, every: systemEvery, onSecretsMissed }, quietEvents(clock));
  await expect(starting).rejects.toThrow(replacedSince);
});

/** As another process does that seals under a key of its own. */
async function putForeignKeyToUse({ domain: { db }, clock }: TestDomain): Promise<void> {
  await db.writeSerialized("keys", (tx) => markKey(tx, "0badc0de", clock.now()));
}

const lacksForeignKey =
  "The database is sealed under the master key with id 0badc0de, which is not among the given ones";

test("a process that read the keys before another one put a key to use that it lacks does not start", async () => {
  await using fixture = await openTestDomain();
  const { domain, effects, clock } = fixture;
  await putForeignKeyToUse(fixture);
  const starting = startTimetable(domain, { ...effects, every: systemEvery, onSecretsMissed }, quietEvents(clock));
  await expect(starting).rejects.toThrow(lacksForeignKey);
  expect(await createProcessRegistry(domain.db).running(clock.now())).toEqual([]);
});

test.each([
  ["the access secret was replaced", replaceSecret, replacedSince],
  ["another one put a key to use that it lacks", putForeignKeyToUse, lacksForeignKey],
])("a process must end that was suspended while %s", async (_, change, message) => {
  await using fixture = await openTestDomain();
  const { domain, effects, clock } = fixture;
  const { every, tick } = manualTimes();
  const missed: Error[] = [];
  const failures: unknown[] = [];
  const jobFailed: Events["jobFailed"] = (job, error) => {
    if (job === "heartbeat") failures.push(error);
  };
  const timetable = await startTimetable(
    domain,
    { ...effects, every, onSecretsMissed: (error) => missed.push(error) },
    { ...quietEvents(clock), jobFailed },
  );
  await change(fixture);
  clock.advance(unseenAfterMs + 1);
  const failureOfNext = () => {
    tick(heartbeatMs);
    return failures[0];
  };
  await expect.poll(failureOfNext).toMatchObject({ message: expect.stringContaining(message) });
  expect(missed).toEqual(failures);
  await timetable.stop();
});

test("a process that others have seen all the time does not end because one without its keys has resumed", async () => {
  await using fixture = await openTestDomain();
  const { domain, effects, clock } = fixture;
  const { every, tick } = manualTimes();
  const timetable = await startTimetable(domain, { ...effects, every, onSecretsMissed }, quietEvents(clock));
  await putForeignKeyToUse(fixture);
  clock.advance(unseenAfterMs);
  const succeededAt = async () => {
    tick(heartbeatMs);
    return (await domain.jobs.list()).find(({ name }) => name === "heartbeat")?.succeededAt;
  };
  await expect.poll(succeededAt).toBe(clock.now());
  await timetable.stop();
});

/** Jobs run once at the start, and then only when the test calls `tick`. */
function manualTimes() {
  const runs: { readonly everyMs: number; readonly run: () => void }[] = [];
  const every: Every = (everyMs, run) => {
    const entry = { everyMs, run };
    runs.push(entry);
    return () => void runs.splice(runs.indexOf(entry), 1);
  };
  const tick = (ms: number) => {
    for (const { everyMs, run } of runs) if (everyMs === ms) run();
  };
  return { every, tick };
}

const quietEvents = (clock: Parameters<typeof createEvents>[0]["clock"]) =>
  createEvents({ logger: createLogger("info", { write: () => undefined }), clock });

test("reports the latest start, success and failure of each job, with the class of an error but not its message", async () => {
  await using fixture = await openTestDomain();
  const { domain, effects, clock } = fixture;
  const { upkeep } = domain.store;
  const failing = { ...upkeep, departedOwners: () => Promise.reject(new RangeError("hunter2")) };
  const { every, tick } = manualTimes();
  const failingDomain = { ...domain, store: { ...domain.store, upkeep: failing } };
  const timetable = await startTimetable(failingDomain, { ...effects, every, onSecretsMissed }, quietEvents(clock));
  const jobOf = async (name: string) => (await domain.jobs.list()).find((job) => job.name === name);
  await expect.poll(() => jobOf("mail")).toMatchObject({ everyMs: 1_000, startedAt: clock.now(), failure: null });
  const startedAt = clock.now();
  clock.advance(10_000);
  tick(10_000);
  await expect
    .poll(() => jobOf("sweep"))
    .toMatchObject({
      startedAt,
      succeededAt: null,
      failedAt: startedAt,
      failure: "deleted accounts: RangeError",
    });
  expect(await jobOf("mail")).toMatchObject({ succeededAt: startedAt, durationMs: expect.any(Number), failedAt: null });
  expect((await domain.jobs.list()).map(({ name }) => name)).toEqual([...jobNames]);
  await timetable.stop();
  expect(await jobOf("sweep")).toMatchObject({ succeededAt: null });
});

test("each job has its interval", async () => {
  await using fixture = await openTestDomain();
  const { domain, effects, clock } = fixture;
  const timetable = await startTimetable(
    domain,
    { ...effects, every: manualTimes().every, onSecretsMissed },
    quietEvents(clock),
  );
  await timetable.stop();
  const jobs = Map.groupBy(await domain.jobs.list(), ({ everyMs }) => everyMs);
  const names = [...jobs].map(([everyMs, group]) => [everyMs / secondMs, group.map(({ name }) => name)]);
  expect(Object.fromEntries(names)).toEqual({
    1: ["claim retries", "download tickets", "mail", "view notifications", "bulk endings", "theme"],
    10: ["heartbeat", "database clock"],
    30: ["sweep"],
    60: ["limits"],
    3600: ["failed emails", "unused links", "sessions", "sign-on steps", "old requests"],
  });
});

test("expired limits are removed until a batch is not full", async () => {
  await using fixture = await openTestDomain();
  const { domain, effects, clock } = fixture;
  const batches = [5_000, 5_000, 17];
  const limits = { ...domain.limits, removeExpired: async () => batches.shift() ?? 0 };
  const { every } = manualTimes();
  const timetable = await startTimetable(
    { ...domain, limits },
    { ...effects, every, onSecretsMissed },
    quietEvents(clock),
  );
  await expect.poll(() => batches).toEqual([]);
  await timetable.stop();
});
