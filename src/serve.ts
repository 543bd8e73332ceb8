import type { AddressInfo } from "node:net";
import { type App, type AppOptions, buildApp, speaksForAll } from "./app.ts";
import type { Config } from "./config/config.ts";

/** Starts listening. The server is ready to answer when this returns. */
export async function startServer(config: Config, warnings: readonly string[], options: AppOptions): Promise<App> {
  const app = await buildApp(config, options);
  if (speaksForAll(options.worker)) for (const warning of warnings) app.events.settingWarning(warning);
  try {
    await app.server.listen({ host: config.host, port: config.port });
  } catch (error) {
    await app.close();
    throw error;
  }
  const { port } = app.server.server.address() as AddressInfo;
  if (options.worker === undefined) app.events.serverStarted({ host: config.host, port, version: options.version });
  else options.worker.listens({ host: config.host, port });
  return app;
}
