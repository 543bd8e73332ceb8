import type { KindName } from "../base/push-kinds.ts";
import type { SettingOrigin } from "./describe-settings.ts";
import type { ReadFile } from "./secret-files.ts";
import { type ParsedTable, type SettingReport, valuesOf } from "./setting.ts";
import { accessConfig, accessSettings } from "./topics/access.ts";
import { accountSettings, accountsConfig, signOnOnlyConfig } from "./topics/accounts.ts";
import { brandingConfig, brandingSettings } from "./topics/branding.ts";
import { databaseConfig, databaseSettings } from "./topics/database.ts";
import { filesConfig, storageSettings, uploadSettings } from "./topics/files.ts";
import { gatewayConfig, gatewaySettings } from "./topics/gateway.ts";
import { generatorConfig, generatorSettings } from "./topics/generator.ts";
import { keySettings, masterKeysConfig } from "./topics/keys.ts";
import { kindSettings, kindsConfig } from "./topics/kinds.ts";
import { limitSettings, limitsConfig } from "./topics/limits.ts";
import { linkDeliveriesConfig, linkDeliverySettings, mailConfig, mailSettings } from "./topics/mail.ts";
import { moveInConfig, moveInSettings } from "./topics/move-in.ts";
import { configuredBaseUrl, networkConfig, networkSettings } from "./topics/network.ts";
import { policyConfig, policySettings } from "./topics/policies.ts";
import { processSettings } from "./topics/processes.ts";
import { scimConfig, scimSettings } from "./topics/scim.ts";
import { serverConfig, serverSettings, shortLivedDataConfig } from "./topics/server.ts";
import { singleSignOnConfig, singleSignOnSettings } from "./topics/single-sign-on.ts";
import { monitoringConfig, monitoringSettings, tracingConfig, tracingSettings } from "./topics/telemetry.ts";

export type { SettingOrigin } from "./describe-settings.ts";

/**
 * The settings table: every setting, in the order of the documentation. A topic's file has its rows, each named as
 * its field of the configuration, and the checks between them; parsing, documentation and known names follow from the table.
 */
export const settingTable = {
  server: serverSettings,
  processes: processSettings,
  database: databaseSettings,
  keys: keySettings,
  moveIn: moveInSettings,
  access: accessSettings,
  policies: policySettings,
  accounts: accountSettings,
  mail: mailSettings,
  linkDeliveries: linkDeliverySettings,
  singleSignOn: singleSignOnSettings,
  scim: scimSettings,
  network: networkSettings,
  gateway: gatewaySettings,
  limits: limitSettings,
  monitoring: monitoringSettings,
  tracing: tracingSettings,
  branding: brandingSettings,
  generator: generatorSettings,
  uploads: uploadSettings,
  storage: storageSettings,
  ...kindSettings,
};

/** The other parts of the server read settings only from here. */
export type Config = Readonly<ReturnType<typeof toConfig>> & {
  /** Every setting as it may be shown: its origin, and its value with secrets masked. */
  readonly origins: readonly SettingOrigin[];
};

export type DatabaseSettings = Config["database"];
export type PostgresSettings = Omit<Extract<DatabaseSettings, { readonly engine: "postgres" }>, "engine">;
export type KindSettings = Config["kinds"][KindName];
export type Range = KindSettings["days"];
export type MailSettings = NonNullable<Config["mail"]>;
export type SingleSignOnSettings = NonNullable<Config["singleSignOn"]>;
export type TracingSettings = NonNullable<Config["tracing"]>;

/**
 * Maps parsed settings to the configuration. If any setting has a mistake, the result must not be used: then the call is
 * for the report alone.
 */
export function toConfig(parsed: ParsedTable<typeof settingTable>, readFile: ReadFile, report: SettingReport) {
  const server = serverConfig(parsed.server);
  const branding = brandingConfig(parsed.branding, report);
  const databaseUrl = parsed.moveIn.databaseUrl.given ? parsed.moveIn.databaseUrl : parsed.server.databaseUrl;
  const database = databaseConfig(databaseUrl, parsed.database, server.dataDir, report);
  const baseUrl = configuredBaseUrl(parsed.network);
  const singleSignOn = singleSignOnConfig(parsed.singleSignOn, baseUrl, report);
  const mail = mailConfig(parsed.mail, {
    baseUrl,
    pushBaseUrl: parsed.gateway.url.value,
    defaultLocale: branding.defaultLocale,
    report,
  });
  const canSendMail = mail !== undefined;
  const gateway = gatewayConfig(parsed.gateway, { server, engine: database.engine, baseUrl }, report);
  const masterKeys = masterKeysConfig(parsed.keys, readFile, report);
  const files = filesConfig(parsed.uploads, parsed.storage, parsed.access, report);
  const kinds = kindsConfig(parsed, parsed.access, report);
  const storedInDataDir = [
    ...(database.engine === "sqlite" ? ["the database"] : []),
    ...(files.s3 === undefined ? ["the files"] : []),
    ...(masterKeys.length === 0 ? ["the master key"] : []),
  ];
  return {
    ...server,
    /** Set if DATA_DIR is lost with its container. */
    shortLivedData: shortLivedDataConfig(parsed.server, gateway.only ? [] : storedInDataDir, readFile, report),
    ...valuesOf(parsed.processes),
    database,
    gateway,
    /** From variables or files, 32 bytes each, active first. Empty: `<dataDir>/master.key` is used or made. */
    masterKeys,
    /** Whether the data of a Password Pusher, in whose place this server runs, are imported; undefined: not decided. */
    moveIn: moveInConfig(parsed.moveIn, report),
    ...accessConfig(parsed.access, report),
    policy: policyConfig(parsed.policies, { sendsMail: canSendMail, kinds, kindRows: parsed }, report),
    accounts: {
      ...accountsConfig(parsed.accounts, parsed.mail, canSendMail, report),
      tokensRestAfterMs: singleSignOn?.tokensRestAfterMs ?? null,
      ...signOnOnlyConfig(singleSignOn, parsed.accounts, report),
    },
    /** undefined: no emails are sent. */
    mail,
    linkDeliveries: linkDeliveriesConfig(parsed.linkDeliveries, parsed.mail, canSendMail, report),
    /** undefined: single sign-on is off. */
    singleSignOn,
    /** undefined: the identity provider manages no accounts. */
    scim: scimConfig(parsed.scim, singleSignOn !== undefined, report),
    ...networkConfig(parsed.network, report),
    ...limitsConfig(parsed.limits),
    ...monitoringConfig(parsed.monitoring, report),
    /** undefined: no traces. */
    tracing: tracingConfig(parsed.tracing, report),
    ...branding,
    generator: generatorConfig(parsed.generator, report),
    files,
    kinds,
  };
}
