import { expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { startTestApp } from "../support/app.ts";
import { TestClock } from "../support/domain.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { newDataDir } from "../support/processes.ts";
import { startServer } from "../support/server.ts";
import { spawnOpenDomains } from "../support/spawn-domain.ts";

const ada = "ada@example.com";

test("an email queued before SIGKILL is sent by the next process", async () => {
  const sink = await startMailSink();
  const dataDir = newDataDir();
  const [domain] = await spawnOpenDomains(1, dataDir, sink.environment);
  await domain?.ask({ do: "put mail", to: [ada, "bob@example.com"] });
  await domain?.kill();
  expect(sink.attempts()).toBe(0);

  const server = await startServer({ dataDir, environment: sink.environment });
  await sink.next(ada);
  await sink.next("bob@example.com");
  expect(await server.stop()).toMatchObject({ exitCode: 0 });
  expect(sink.messages().length).toBe(2);
});

test("an email that was being sent at SIGKILL is sent again with the same Message-ID", async () => {
  const sink = await startMailSink();
  const over = Promise.withResolvers<void>();
  sink.holdMessages(over.promise);
  const dataDir = newDataDir();
  const [domain] = await spawnOpenDomains(1, dataDir, sink.environment);
  await domain?.ask({ do: "put mail", to: [ada] });
  const server = await startServer({ dataDir, environment: sink.environment });
  await sink.held();
  await server.kill();
  over.resolve();
  const first = await sink.next(ada);

  const clock = new TestClock(Date.now());
  await using fixture = await startTestApp({ dataDir, environment: sink.environment, clock });
  expect(await fixture.app.domain.mail.sizes()).toEqual({ waiting: 1, failed: 0 });
  clock.advance(3 * minuteMs);
  const second = await sink.next(ada);
  expect(second.messageId).toBe(first.messageId);
  await expect.poll(() => fixture.app.domain.mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  expect(sink.messages().length).toBe(2);
});
