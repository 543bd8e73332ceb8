/**
 * A domain in its own process, which executes the commands that its parent sends over the IPC channel; started by
 * `spawnDomain`. Everything in it is real: clock, randomness, disk.
 */
import { flushCompileCache } from "node:module";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { type Domain, type Effects, openDomain } from "../../src/domain.ts";
import { rotateKeys } from "../../src/pushes/maintenance/rotate.ts";
import { rotatedColumns } from "../../src/tables.ts";
import { createEvents } from "../../src/telemetry/events.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { countEveryone, stranger, testConfig } from "./domain.ts";

export type Command =
  | { readonly do: "open"; readonly dataDir: string; readonly environment: Readonly<Record<string, string>> }
  | { readonly do: "create"; readonly count: number; readonly views: number }
  | { readonly do: "claim"; readonly urlToken: string; readonly times: number; readonly oneByOne?: boolean }
  | { readonly do: "expire"; readonly urlToken: string }
  | { readonly do: "rotate" }
  | { readonly do: "put mail"; readonly to: readonly string[] }
  | { readonly do: "close" };

/** What the parent sends. `at`: the instant of the start, ms since the epoch, so that several begin together. */
export interface CommandMessage {
  readonly number: number;
  readonly at: number;
  readonly command: Command;
}

export interface Report {
  readonly number: number;
  readonly answer?: readonly string[];
  readonly error?: string;
}

const effects: Effects = {
  clock: systemClock,
  correctClock: () => undefined,
  random: systemRandom,
  monotonicMs: () => performance.now(),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  abortAfter: (ms) => AbortSignal.timeout(ms),
};

let opened: Domain | undefined;

function domain(): Domain {
  if (opened === undefined) throw new Error("The domain is not open.");
  return opened;
}

async function execute(command: Command): Promise<readonly string[]> {
  switch (command.do) {
    case "open": {
      await opened?.close();
      const events = createEvents({ logger: createLogger("silent", process.stderr), clock: effects.clock });
      opened = await openDomain(testConfig(command.dataDir, command.environment), effects, events);
      return [];
    }
    case "create": {
      const request = { payload: "x", expireAfterViews: command.views };
      const made = Array.from({ length: command.count }, () => domain().pushes.create(request, stranger));
      return (await Promise.all(made)).map((push) => push.urlToken);
    }
    case "claim": {
      const ask = async () => (await domain().pushes.claimView(command.urlToken, countEveryone, stranger)).outcome;
      if (command.oneByOne !== true) return await Promise.all(Array.from({ length: command.times }, ask));
      const outcomes: string[] = [];
      while (outcomes.length < command.times) outcomes.push(await ask());
      return outcomes;
    }
    case "expire": {
      const push = await domain().pushes.expire(command.urlToken, stranger);
      return [push.deleted ? "deleted" : "ended before"];
    }
    case "rotate": {
      const { db, keyring } = domain();
      const report = await rotateKeys({ db, keyring, columns: rotatedColumns, ...effects });
      return report.retiredKeyIds;
    }
    case "put mail": {
      const { db, mail } = domain();
      const content = { kind: "reset_password", token: "a-token-of-a-reset" } as const;
      const now = effects.clock.now();
      await db.write(async (tx) => {
        for (const to of command.to) await mail.outbox.put(tx, { to, language: null, content }, now);
      });
      return command.to;
    }
    case "close":
      await domain().close();
      process.disconnect();
      return [];
  }
}

/** Sleeps, and polls the clock for the last milliseconds: timers are too coarse to start at the same time. */
async function waitUntil(at: number): Promise<void> {
  const watchMs = 3;
  const left = at - Date.now() - watchMs;
  if (left > 0) await effects.pause(left);
  while (Date.now() < at);
}

process.on("message", (order: CommandMessage) => {
  void (async () => {
    await waitUntil(order.at);
    const report: Report = await execute(order.command).then(
      (answer) => ({ number: order.number, answer }),
      (error: unknown) => ({ number: order.number, error: String(error) }),
    );
    if (process.connected) process.send?.(report);
  })();
});

// Tests kill this process, which would compile everything again each time.
flushCompileCache();
