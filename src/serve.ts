import type { AddressInfo } from "node:net";
import { type App, type AppOptions, buildApp } from "./app.ts";
import type { Config } from "./config/config.ts";

/** Starts listening. The server is ready to answer when this returns. */
export async function startServer(config: Config, warnings: readonly string[], options: AppOptions): Promise<App> {
  const app = await buildApp(config, options);
  for (const warning of warnings) app.events.settingWarning(warning);
  try {
    await app.server.listen({ host: config.host, port: config.port });
  } catch (error) {
    await app.close();
    throw error;
  }
  const { port } = app.server.server.address() as AddressInfo;
  app.events.serverStarted({ host: config.host, port, version: options.version });
  return app;
}
