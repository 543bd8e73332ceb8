import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type App, type AppOptions, buildApp } from "./app.ts";
import type { Config } from "./config/config.ts";

/** Starts a server. Resolves when it answers requests. */
export async function startServer(config: Config, warnings: readonly string[], options: AppOptions): Promise<App> {
  const app = await buildApp(config, options);
  for (const warning of warnings) app.events.settingWarning(warning);
  try {
    await app.server.ready();
    await app.server.listen({ host: config.host, port: config.port });
    if (app.gateway !== undefined) {
      app.gateway.listen(config.gateway.listener);
      await once(app.gateway, "listening");
    }
  } catch (error) {
    await app.close();
    throw error;
  }
  const { port } = app.server.server.address() as AddressInfo;
  app.events.serverStarted({ host: config.host, port, version: options.version });
  if (app.gateway !== undefined) app.events.gatewayStarted(app.gateway.address() as AddressInfo);
  return app;
}
