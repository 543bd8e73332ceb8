import { afterEach, expect, test, vi } from "vitest";
import { countEveryone, openTestDomain, stranger } from "../../test/support/domain.ts";
import { countRows } from "../../test/support/engine-database.ts";
import { hourMs, minuteMs, systemEvery } from "../base/clock.ts";
import { ClockTrust } from "../base/clock-trust.ts";
import { replaceAccessSecret } from "../pushes/vault.ts";
import { createEvents, type Events } from "../telemetry/events.ts";
import { createLogger } from "../telemetry/logger.ts";
import { startTimetable } from "./timetable.ts";

afterEach(() => {
  vi.useRealTimers();
});

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
    { ...fixture.effects, every: systemEvery },
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
    { ...fixture.effects, every: systemEvery },
    { ...events, jobDone },
  );
  await removed.promise;
  expect(await countRows(db, "claim_retries")).toBe(0);
  expect(await countRows(db, "payloads")).toBe(0);
  hanging.resolve([]);
  await timetable.stop();
});

test("a process that read the access secret before it was replaced does not start", async () => {
  await using fixture = await openTestDomain();
  const { domain, effects, clock } = fixture;
  const events = createEvents({ logger: createLogger("info", { write: () => undefined }), clock });
  const { keyring } = domain;
  await domain.db.writeSerialized("keys", async (tx) => {
    await replaceAccessSecret(tx, { keyring, random: effects.random, onForgedRow: () => undefined });
  });
  const starting = startTimetable(domain, { ...effects, every: systemEvery }, events);
  await expect(starting).rejects.toThrow("The access secret was replaced while the server started: start it again.");
});
