import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { registerApiV1 } from "./api/v1/retrieve.ts";
import { registerApiV2 } from "./api/v2/routes.ts";
import { bootCodePath } from "./config/boot-code-file.ts";
import type { Config } from "./config/config.ts";
import { createForwarderNote } from "./db/forwarder-note.ts";
import { type Effects, type House, openHouse } from "./house.ts";
import { registerDownloads } from "./http/downloads.ts";
import { type DrainTimes, drainAtOnce } from "./http/drain.ts";
import { createReadiness } from "./http/readiness.ts";
import type { RouteEntry } from "./http/route-access.ts";
import { createServer, type Server } from "./http/server.ts";
import { registerUp } from "./http/up.ts";
import { startTimetable } from "./jobs/timetable.ts";
import { assetUrls } from "./pages/assets.ts";
import { renderFailure } from "./pages/failure/render-failure.ts";
import { registerPages } from "./pages/routes.ts";
import { createEvents, type Events } from "./telemetry/events.ts";
import { createLogger, type DestinationStream } from "./telemetry/logger.ts";

export interface AppOptions {
  readonly effects: Effects;
  readonly logDestination: DestinationStream;
  /** The folder that the build wrote for browsers, with its manifest. */
  readonly assetsDir: string;
  readonly version: string;
}

export interface App {
  readonly server: FastifyInstance;
  readonly house: House;
  readonly events: Events;
  readonly routes: readonly RouteEntry[];
  /** Answers what is under way, refuses what is new, waits for jobs and writes, closes the database. */
  close(times?: DrainTimes): Promise<void>;
}

/** The composition root: the whole product from its settings. Listening is the caller's. */
export async function buildApp(config: Config, options: AppOptions): Promise<App> {
  const { effects } = options;
  const logger = createLogger(config.logLevel, options.logDestination);
  const events = createEvents({ logger, clock: effects.clock });
  const house = await openHouse(config, effects, events);
  try {
    const server = await composeServer(config, options, house, events);
    const bootCode = await house.accounts.openFirstRun();
    if (bootCode !== undefined) events.bootCodeMade(bootCode, bootCodePath(config.dataDir));
    const timetable = await startTimetable(house, effects, events);
    return {
      server: server.fastify,
      house,
      events,
      routes: server.routes,
      async close(times = drainAtOnce) {
        await server.drain.run(times);
        await server.fastify.close();
        await timetable.stop();
        await house.close();
      },
    };
  } catch (error) {
    await house.close();
    throw error;
  }
}

async function composeServer(config: Config, options: AppOptions, house: House, events: Events): Promise<Server> {
  const { clock, random } = options.effects;
  const { pushes, accounts, branding, mail, health, deleteAccount } = house;
  const manifest: unknown = JSON.parse(readFileSync(join(options.assetsDir, "manifest.json"), "utf8"));
  if (typeof manifest !== "object" || manifest === null) throw new Error("The assets' manifest is not an object.");
  const assetUrl = assetUrls({ ...manifest }, "/assets");
  const server = createServer({
    ...{ config, clock, random, events, accounts },
    renderError: (refusal, request) => renderFailure(refusal, request, { assetUrl, config, branding }),
    onUntrustedForwarder: noteForwarders(house, options.effects, events),
  });
  const { fastify, sessionCookies, bodyBudget } = server;
  const { monotonicMs } = options.effects;
  const readiness = createReadiness({
    canServe: () => house.canServe(),
    draining: () => server.drain.begun,
    monotonicMs,
  });
  registerUp(fastify, { readiness });
  registerApiV2(fastify, { config, pushes, bodyBudget, version: options.version });
  registerApiV1(fastify, { pushes });
  registerDownloads(fastify, { pushes, events });
  await registerPages(fastify, {
    config,
    clock,
    pushes,
    accounts,
    ...{ branding, mail, health, deleteAccount, version: options.version },
    sessionCookies,
    bodyBudget,
    assetUrl,
    events,
    assetsDir: options.assetsDir,
  });
  return server;
}

/** Warned of, and noted for the operator's `doctor`; both are bounded, however many strangers send such headers. */
function noteForwarders(house: House, { clock }: Effects, events: Events): (address: string) => void {
  const note = createForwarderNote(house.db);
  return (address) => {
    events.untrustedForwarder(address);
    note.write(address, clock.now()).catch((error: unknown) => events.usageNotRecorded("untrusted_forwarder", error));
  };
}
