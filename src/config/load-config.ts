import { resolve } from "node:path";
import { secondMs } from "../base/clock.ts";
import type { Config } from "./config.ts";
import { contradictions } from "./contradictions.ts";
import { databaseOf, databaseWarnings } from "./database-settings.ts";
import type { SettingOrigin } from "./describe-settings.ts";
import { givenMasterKeys } from "./given-master-keys.ts";
import { kindSettings } from "./kind-settings.ts";
import { networkOf, settledBaseUrl } from "./network-settings.ts";
import { givenUnusedSettings, type UnusedSetting } from "./password-pusher-settings.ts";
import { processesOf, processWarnings } from "./process-settings.ts";
import { allSettings, type Environment, type ParsedSettings, readSettings } from "./read-settings.ts";
import { fileNameOf, type ReadFile, settingsByFile, withSecretsFromFiles } from "./secret-files.ts";
import type { ParsedSetting } from "./setting.ts";
import { type SettingGroups, settingGroups } from "./settings.ts";
import { s3SettingsOf } from "./storage-config.ts";
import { metricsMistakes, telemetryOf, telemetryWarnings } from "./telemetry-config.ts";
import { unknownNameWarnings, unusedSentence } from "./unknown-names.ts";

export type { SettingOrigin } from "./describe-settings.ts";

export type LoadResult =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly warnings: readonly string[];
      /** Every setting, in the order of the table. */
      readonly given: readonly SettingOrigin[];
      /** Settings of Password Pusher that are given and have no effect; `warnings` has a sentence on each. */
      readonly unused: readonly UnusedSetting[];
    }
  | {
      readonly ok: false;
      readonly mistakes: readonly string[];
      readonly warnings: readonly string[];
      readonly given: readonly SettingOrigin[];
      readonly unused: readonly UnusedSetting[];
    };

/**
 * Reads all settings and checks them, each alone and against the others, before anything is opened. Every mistake is
 * reported, one sentence each; no sentence repeats a secret.
 * @param readFile for keys and secrets that stand in files.
 */
export function loadConfig(variables: Environment, readFile: ReadFile): LoadResult {
  const rows = allSettings(settingGroups);
  const { environment, mistakes: fileMistakes } = withSecretsFromFiles(variables, rows, readFile);
  const parsed = readSettings(settingGroups, environment);
  const all: readonly ParsedSetting<unknown>[] = Object.values(parsed).flatMap((group) => Object.values(group));
  const masterKeys = givenMasterKeys(parsed.keys, readFile);
  const { access } = parsed;
  const kinds = {
    text: kindSettings(parsed.text, true),
    file: kindSettings(parsed.file, access.filePushes.value),
    url: kindSettings(parsed.url, access.urlPushes.value),
    qr: kindSettings(parsed.qr, access.qrPushes.value),
  };
  const kindResults = Object.values(kinds);
  const storage = s3SettingsOf(parsed.storage);
  const mistakes = [
    ...all.flatMap((reading) => reading.mistake ?? []),
    ...fileMistakes,
    ...masterKeys.mistakes,
    ...metricsMistakes(parsed.watching),
    ...kindResults.flatMap((kind) => kind.mistakes),
    ...storage.mistakes,
  ];
  const unused = givenUnusedSettings(variables);
  const warnings = [
    ...unused.map(unusedSentence),
    ...unknownNameWarnings(environment, [...rows.map((row) => row.env), ...settingsByFile(rows).map(fileNameOf)]),
    ...kindResults.flatMap((kind) => kind.warnings),
    ...contradictions(parsed),
    ...storage.warnings,
    ...processWarnings(parsed.processes, parsed.server.databaseUrl.value?.engine ?? "sqlite"),
    ...databaseWarnings(parsed),
    ...telemetryWarnings(parsed.watching, parsed.tracing),
  ];
  const moved: Readonly<Record<string, string>> = Object.assign({}, ...kindResults.map((kind) => kind.moved));
  const wrong = new Set(mistakes.flatMap((mistake) => namesToMend(mistake)));
  const given = all.map(
    ({ env, given, shown }): SettingOrigin => ({
      name: env,
      from: given ? "environment" : "default",
      shown: moved[env] ?? shown,
      ...((wrong.has(env) || wrong.has(`${env}_FILE`)) && { refused: true }),
    }),
  );
  if (mistakes.length > 0) return { ok: false, mistakes, warnings, given, unused };

  const config = configOf(parsed, given, masterKeys.keys, {
    text: kinds.text.settings,
    file: kinds.file.settings,
    url: kinds.url.settings,
    qr: kinds.qr.settings,
  });
  return { ok: true, config, warnings, given, unused };
}

/** Each mistake begins with the setting to mend, or with the two that cannot both be given. */
function namesToMend(mistake: string): readonly string[] {
  const [, first, second] = /^([A-Z][A-Z0-9_]*)(?: and ([A-Z][A-Z0-9_]*))?/.exec(mistake) ?? [];
  return [first, second].filter((name) => name !== undefined);
}

function configOf(
  {
    server,
    database,
    processes,
    access,
    accounts,
    mail,
    linkDeliveries,
    singleSignOn,
    network,
    protection,
    uploads,
    storage,
    watching,
    tracing,
    look,
  }: ParsedSettings<SettingGroups>,
  origins: readonly SettingOrigin[],
  masterKeys: readonly Buffer[],
  kinds: Config["kinds"],
): Config {
  const dataDir = resolve(server.dataDir.value);
  const baseUrl = settledBaseUrl(network);
  const mailSettings = mailSettingsOf(mail, baseUrl, look.defaultLocale.value);
  return {
    origins,
    host: server.host.value,
    port: server.port.value,
    ...processesOf(processes, server.databaseUrl.value?.engine ?? "sqlite"),
    dataDir,
    database: databaseOf({ server, database }, dataDir),
    masterKeys,
    allowAnonymous: access.anonymous.value,
    kinds,
    files: {
      allowAnonymous: access.anonymous.value && uploads.anonymous.value,
      maxFileUploads: uploads.maxFileUploads.value,
      pushBytesMax: uploads.pushBytesMax.value,
      ticketTtlSeconds: uploads.ticketMinutes.value * 60,
      s3: s3SettingsOf(storage).s3,
    },
    ...networkOf(network),
    throttling: { minute: protection.throttlingMinute.value, second: protection.throttlingSecond.value },
    logLevel: protection.logLevel.value,
    ...telemetryOf(watching, tracing),
    purgeAfterMs: protection.purgeAfter.value,
    freeDiskBytesMin: protection.freeDiskBytesMin.value,
    anonymousBytesMax: protection.anonymousBytesMax.value,
    accounts: {
      signupsDisabled: accounts.disableSignups.value,
      loginsDisabled: accounts.disableLogins.value,
      signupEmailPattern: accounts.signupEmailRegexp.value,
      emails: accounts.accountEmails.value && mailSettings !== undefined,
      requireSecondFactor: accounts.requireMfa.value,
      sessionTimeoutSeconds: accounts.loginSessionTimeout.value / secondMs,
    },
    mail: mailSettings,
    linkDeliveries: {
      enabled: linkDeliveries.enabled.value && linkDeliveries.dailyLimit.value > 0 && mailSettings !== undefined,
      dailyMax: linkDeliveries.dailyLimit.value,
    },
    singleSignOn: singleSignOnOf(singleSignOn, baseUrl),
    brandTitle: look.title.value,
    defaultLocale: look.defaultLocale.value,
  };
}

function mailSettingsOf(
  mail: ParsedSettings<SettingGroups>["mail"],
  baseUrl: string | undefined,
  defaultLocale: string | undefined,
): Config["mail"] {
  const host = mail.smtpAddress.value;
  if (host === undefined || baseUrl === undefined) return undefined;
  const userName = mail.smtpUserName.value;
  return {
    host,
    port: mail.smtpPort.value,
    startTls: mail.smtpStartTls.value === "auto" && !mail.smtpStartTlsAuto.value ? "off" : mail.smtpStartTls.value,
    greetingName: mail.smtpDomain.value,
    signIn: userName === undefined ? undefined : { userName, password: mail.smtpPassword.value ?? "" },
    sender: mail.sender.value ?? `sealpush@${new URL(baseUrl).hostname}`,
    baseUrl,
    defaultLocale,
  };
}

function singleSignOnOf(
  { issuer, clientId, clientSecret, name }: ParsedSettings<SettingGroups>["singleSignOn"],
  baseUrl: string | undefined,
): Config["singleSignOn"] {
  if (issuer.value === undefined || clientId.value === undefined || baseUrl === undefined) return undefined;
  return {
    issuer: issuer.value,
    clientId: clientId.value,
    clientSecret: clientSecret.value,
    name: name.value,
    baseUrl,
  };
}
