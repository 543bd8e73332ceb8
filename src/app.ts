import { apiReference } from "./api/api-reference.ts";
import { registerApi } from "./api/routes.ts";
import { registerScim } from "./api/scim/routes.ts";
import type { Clock, Every } from "./base/clock.ts";
import { createShortage } from "./base/memory-shortage.ts";
import type { Config } from "./config/config.ts";
import { capabilitiesOf } from "./database/database.ts";
import { createForwarderNote } from "./database/forwarder-note.ts";
import { readSweepBacklog } from "./database/inspection.ts";
import { refuseUnfinishedMoveIn } from "./database/move-marks.ts";
import { awaitDatabase } from "./database/open-database.ts";
import { type Domain, type Effects, openDomain } from "./domain.ts";
import { readManifest } from "./http/built-assets.ts";
import { registerDownloads } from "./http/downloads.ts";
import { type DrainTimes, drainAtOnce } from "./http/drain.ts";
import { createMetricsGate, registerMetrics } from "./http/metrics.ts";
import { createReadiness, registerProbes } from "./http/readiness.ts";
import { createServer, type Server } from "./http/server.ts";
import { startTimetable } from "./jobs/timetable.ts";
import { renderMarkdown } from "./pages/about/markdown.ts";
import { assetIntegrities, assetUrls } from "./pages/assets.ts";
import { renderFailure } from "./pages/failure.tsx";
import { findOldAddress } from "./pages/old-addresses.ts";
import { registerPages } from "./pages/routes.ts";
import { watchPushes } from "./pushes/pushes.ts";
import { watchRequests } from "./requests/requests.ts";
import type { DomainGauges } from "./telemetry/domain-gauges.ts";
import type { Events } from "./telemetry/events.ts";
import type { DestinationStream } from "./telemetry/logger.ts";
import { openTelemetry, type Telemetry } from "./telemetry/telemetry.ts";

export interface AppOptions {
  readonly effects: Effects;
  /** Starts the background jobs at their intervals. */
  readonly every: Every;
  readonly logDestination: DestinationStream;
  /** The folder with the built files for browsers, and their manifest. */
  readonly assetsDir: string;
  readonly version: string;
  /** The memory that this process may use. */
  readonly memoryBytes: number;
  /** The memory that belongs to this process alone. */
  readonly privateBytes: () => number;
  /** When aborted, a start that waits for the database stops waiting and throws the reason. */
  readonly abandoned?: AbortSignal;
  /** See `startTimetable`. The caller closes the application. */
  readonly onSecretsMissed: (error: Error) => void;
}

export type App = Awaited<ReturnType<typeof buildApp>>;

/** The composition root: builds the whole product from its settings. The caller listens. */
export async function buildApp(config: Config, options: AppOptions) {
  const { effects, logDestination, version } = options;
  const telemetry = await openTelemetry(config, {
    clock: effects.clock,
    destination: logDestination,
    manyProcesses: capabilitiesOf[config.database.engine].manyProcesses,
    version,
  });
  const { events } = telemetry;
  await awaitDatabase(config.database, {
    ...effects,
    abandoned: options.abandoned,
    onWaiting: events.databaseAwaited,
  });
  const domain = await openDomain(config, effects, events);
  try {
    await refuseUnfinishedMoveIn(domain.db.read);
    const server = await composeServer(config, options, domain, telemetry);
    if (!config.gateway.only) {
      const bootCode = await domain.accounts.openFirstRun();
      if (bootCode !== undefined) events.bootCodeMade(bootCode);
    }
    const { every, onSecretsMissed } = options;
    const timetable = await startTimetable(domain, { ...effects, every, onSecretsMissed }, events);
    return {
      server: server.fastify,
      /** The second server, for recipients alone; undefined: none is configured. */
      gateway: server.gateway,
      domain,
      events,
      routes: server.routes,
      /** Stops accepting requests, waits for running requests, jobs and writes, and closes the database. */
      async close(times: DrainTimes = drainAtOnce): Promise<void> {
        await server.drain.run(times);
        await server.fastify.close();
        await timetable.stop();
        await domain.close();
        await telemetry.close();
      },
    };
  } catch (error) {
    await domain.close();
    throw error;
  }
}

/** The HTTP server with all routes: probes, metrics, both APIs, downloads and pages. */
async function composeServer(
  config: Config,
  options: AppOptions,
  domain: Domain,
  { events, metrics, watch }: Telemetry,
): Promise<Server> {
  const { version } = options;
  const { clock, random, monotonicMs } = options.effects;
  const { accounts, policies, groups, presets, branding, mail, jobs, health, deleteAccount, deleteGroup } = domain;
  const pushes = metrics === undefined ? domain.pushes : watchPushes(domain.pushes, metrics);
  const requests = metrics === undefined ? domain.requests : watchRequests(domain.requests, metrics);
  const metricsGate = config.metrics && createMetricsGate(config.metrics);
  const manifest = readManifest(options.assetsDir);
  const assetUrl = assetUrls(manifest, "/assets");
  const assetIntegrity = assetIntegrities(manifest, options.assetsDir);
  const server = createServer({
    ...options.effects,
    config,
    events,
    accounts,
    requestCounts: domain.limits.requests,
    renderError: (refusal, request) =>
      renderFailure(refusal, request, { assetUrl, assetIntegrity, config, branding, mail, version }),
    findOldAddress,
    onUntrustedForwarder: forwarderRecorder(domain, options.effects, events),
    watch,
    metricsGate,
    memoryBytes: options.memoryBytes,
    isMemoryShort: createShortage({ ...options, isHashing: () => domain.argon2.running > 0 }),
    every: options.every,
  });
  const { fastify, sessionCookies, bodyIntake } = server;
  const draining = () => server.drain.begun;
  registerProbes(fastify, createReadiness({ canServe: () => domain.canServe(), draining, monotonicMs }));
  if (metrics !== undefined && metricsGate !== undefined) {
    metrics.watchDomain(gaugesOf(domain, clock));
    registerMetrics(fastify, { gate: metricsGate, read: metrics.read });
  }
  registerApi(fastify, { config, policies, presets, pushes, requests, bodyIntake, version });
  if (config.scim !== undefined) registerScim(fastify, { scim: accounts.scim, bodyIntake });
  registerDownloads(fastify, { pushes, events, clock });
  registerPages(fastify, {
    config,
    clock,
    random,
    pushes,
    requests,
    policies,
    groups,
    presets,
    accounts,
    branding,
    mail,
    jobs,
    health,
    deleteAccount,
    deleteGroup,
    version,
    sessionCookies,
    bodyIntake,
    assetUrl,
    aboutHtml: config.about === undefined ? undefined : await renderMarkdown(config.about),
    assetIntegrity,
    apiReference: apiReference(config),
    events,
    assetsDir: options.assetsDir,
  });
  return server;
}

function gaugesOf({ db, mail, argon2 }: Domain, clock: Clock): DomainGauges {
  return {
    engine: db.engine,
    argon2,
    backlog: async () => ({ ...(await readSweepBacklog(db, clock.now())), mails: await mail.sizes() }),
    writes: () => db.counts,
    pool: () => db.poolUse(),
  };
}

/** Logs and records proxies that are not trusted, for `doctor`. Both are bounded, since anybody can send such headers. */
function forwarderRecorder(domain: Domain, { clock }: Effects, events: Events): (address: string) => void {
  const note = createForwarderNote(domain.db);
  return (address) => {
    events.untrustedForwarder(address);
    note.write(address, clock.now()).catch((error: unknown) => events.usageNotRecorded("untrusted_forwarder", error));
  };
}
