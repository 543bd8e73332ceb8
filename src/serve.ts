import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type App, type AppOptions, buildApp, logsForAllWorkers } from "./app.ts";
import type { Config } from "./config/config.ts";

/** Starts a server that listens; a worker gets its connections from its primary. Resolves when it answers requests. */
export async function startServer(config: Config, warnings: readonly string[], options: AppOptions): Promise<App> {
  const app = await buildApp(config, options);
  if (logsForAllWorkers(options.worker)) for (const warning of warnings) app.events.settingWarning(warning);
  try {
    await app.server.ready();
    if (options.worker === undefined) await app.server.listen({ host: config.host, port: config.port });
    else options.worker.serve(app.server.server);
    if (app.gateway !== undefined) {
      app.gateway.listen(config.gateway.listener);
      await once(app.gateway, "listening");
    }
  } catch (error) {
    await app.close();
    throw error;
  }
  if (options.worker === undefined) {
    const { port } = app.server.server.address() as AddressInfo;
    app.events.serverStarted({ host: config.host, port, version: options.version });
    if (app.gateway !== undefined) app.events.gatewayStarted(app.gateway.address() as AddressInfo);
  }
  return app;
}
