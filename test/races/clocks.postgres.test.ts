import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { type Clock, CorrectedClock, dayMs, hourMs, systemClock } from "../../src/base/clock.ts";
import { followDatabaseClock, openDomain } from "../../src/domain.ts";
import { createEvents } from "../../src/telemetry/events.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { countEveryone, makeDataDir, stranger, TestClock, testConfig, testEffects } from "../support/domain.ts";
import { keyEnvironment } from "../support/master-keys.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";

/** Opens a process's domain whose machine has this clock. */
async function open(url: string, machine: Clock) {
  const dataDir = makeDataDir();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = new CorrectedClock(machine);
  const effects = { ...testEffects(new TestClock()), clock, correctClock: clock.correct };
  const config = testConfig(dataDir, { DATABASE_URL: url, ...keyEnvironment("first") });
  const events = createEvents({ logger: createLogger("error", { write: () => true }), clock });
  const domain = await openDomain(config, effects, events);
  onTestFinished(() => domain.close());
  return { domain, effects };
}

const ahead = (ms: number): Clock => ({ now: () => systemClock.now() + ms });

test("the database's time decides whether a push has expired, not that of a machine whose clock is wrong", async () => {
  const { url } = await makePostgresDatabase();
  const { domain: right } = await open(url, systemClock);
  const { domain: early } = await open(url, ahead(30 * dayMs));
  const { domain: late } = await open(url, ahead(-30 * dayMs));
  const { urlToken, expiresAt } = await right.pushes.create({ payload: "x", expireAfterDays: 1 }, stranger);
  for (const { pushes } of [early, late, right]) {
    expect(await pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({ outcome: "revealed" });
  }
  // Pushes that the wrong machines create expire after a day as well.
  for (const { pushes } of [early, late]) {
    const push = await pushes.create({ payload: "x", expireAfterDays: 1 }, stranger);
    expect(Math.abs(push.expiresAt - expiresAt)).toBeLessThan(hourMs);
  }
});

test("a clock that is moved while the process runs is corrected again", async () => {
  const { url } = await makePostgresDatabase();
  let wrongByMs = 0;
  const { domain, effects } = await open(url, { now: () => systemClock.now() + wrongByMs });
  const { urlToken } = await domain.pushes.create({ payload: "x", expireAfterDays: 1 }, stranger);
  wrongByMs = 2 * dayMs;
  await followDatabaseClock(domain.db, effects);
  expect(await domain.pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({ outcome: "revealed" });
});
