import { listenAddress, webOrigin } from "../network-types.ts";
import { optionalSetting, type ParsedGroup, type SettingReport } from "../setting.ts";
import { onByPresence, wholeNumber } from "../value-types.ts";
import { networkSettings } from "./network.ts";
import { serverSettings } from "./server.ts";

export const gatewaySettings = {
  title: "Public gateway",
  intro:
    "A gateway serves only what the recipient of a link needs, so that everything else need not be reachable from the internet. [deployment.md](deployment.md#a-public-gateway) has the two ways to run one.",
  settings: {
    only: optionalSetting({
      env: "PWP_PUBLIC_GATEWAY",
      doc: "If true, this process is only a gateway: it answers 404 to everything that a recipient does not need. Another process on the same PostgreSQL database serves the rest.",
      type: onByPresence,
      unset: "off",
      whenUnset: false,
    }),
    port: optionalSetting({
      env: "PWP__PUBLIC_GATEWAY_PORT",
      doc: "A second port of this process, on which it is only a gateway. 0 selects any free port.",
      type: wholeNumber(0, 65535),
      unset: "no second port",
    }),
    host: optionalSetting({
      env: "PWP__PUBLIC_GATEWAY_HOST",
      doc: "The address to listen on for the second port.",
      type: listenAddress,
      unset: "as HOST",
    }),
    url: optionalSetting({
      env: "PWP__PUBLIC_GATEWAY_URL",
      doc: "The start of the links of pushes, if recipients use another address than `PWP__OVERRIDE_BASE_URL`. All other links, such as those to confirm an email address, still start with the base URL.",
      type: webOrigin,
      unset: "as the base URL",
    }),
  },
};

interface Surroundings {
  readonly server: { readonly host: string; readonly port: number };
  readonly engine: "sqlite" | "postgres";
  /** The start of every link, if the settings define it. */
  readonly baseUrl: string | undefined;
}

export function gatewayConfig(
  { only, port, host, url }: ParsedGroup<typeof gatewaySettings>,
  { server, engine, baseUrl }: Surroundings,
  report: SettingReport,
) {
  const names = { ...serverSettings.settings, ...networkSettings.settings };
  const listener = port.value === undefined ? undefined : { host: host.value ?? server.host, port: port.value };
  if (only.value && listener !== undefined) {
    report.mistake(
      `${only.env} makes the whole process a gateway, and ${port.env} adds a gateway to a complete server: remove one of the two.`,
      only.env,
      port.env,
    );
  }
  if (listener !== undefined && listener.port !== 0 && listener.port === server.port && listener.host === server.host) {
    report.mistake(`${port.env} is the same as ${names.port.env}: the gateway needs a port of its own.`, port.env);
  }
  if (only.value && engine === "sqlite") {
    report.warn(
      `${only.env}: only links open here, and no other process can use a SQLite database to create pushes. With SQLite, set ${port.env} instead.`,
    );
  }
  if (host.given && listener === undefined) report.warn(`${host.env} has no effect without ${port.env}.`);
  if (listener !== undefined && url.value === undefined && baseUrl === undefined) {
    report.warn(
      `New links start with the address at which people create them, which recipients may not reach: set ${url.env} to the address of the gateway.`,
    );
  }
  return {
    /** This process serves nothing but what recipients need. */
    only: only.value,
    /** The second listener, which serves nothing but what recipients need; undefined: none. */
    listener,
    /** The origin of links of pushes; undefined: as all links. */
    url: url.value,
  };
}
