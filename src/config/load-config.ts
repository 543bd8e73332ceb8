import { type Config, settingTable, toConfig } from "./config.ts";
import type { SettingOrigin } from "./describe-settings.ts";
import { givenUnusedSettings, settingsNotToCopy } from "./password-pusher-settings.ts";
import { fileNameOf, type ReadFile, settingsByFile, withSecretsFromFiles } from "./secret-files.ts";
import { allSettings, type Environment, type ParsedSetting, parseSettings, SettingReport } from "./setting.ts";
import { settingsFileName, settingsFromFile } from "./settings-file.ts";
import { withoutNamesOfSource } from "./topics/move-in.ts";
import { unknownNameWarnings, unusedSentence } from "./unknown-names.ts";

export type LoadResult = ReturnType<typeof loadConfig>;

/**
 * Parses all settings and checks them, each alone and against the others, before anything is opened. Every mistake is
 * reported, one sentence each; no sentence repeats a secret.
 * @param readFile reads the files of keys and secrets.
 */
export function loadConfig(variables: Environment, readFile: ReadFile) {
  const rows = allSettings(settingTable);
  const fileReport = new SettingReport();
  const { given, fromFile } = withSettingsFile(variables, readFile, fileReport);
  const { own, namesOfSource } = withoutNamesOfSource(given);
  const environment = withSecretsFromFiles(own, rows, readFile, fileReport);
  const parsed = parseSettings(settingTable, environment);
  const all: readonly ParsedSetting<unknown>[] = Object.values(parsed).flatMap((group) => Object.values(group));
  const report = new SettingReport();
  for (const { env, mistake } of all) if (mistake !== undefined) report.mistake(mistake, env);
  report.mistakes.push(...fileReport.mistakes);
  const config = toConfig(parsed, readFile, report);
  const ofSource = namesOfSource.map((name) => `${name} is Password Pusher's while SEALPUSH_MOVE_IN is set.`);

  const unused = givenUnusedSettings(given);
  const knownNames = [settingsFileName, ...rows.map((row) => row.env), ...settingsByFile(rows).map(fileNameOf)];
  const warnings = [
    ...ofSource,
    ...settingsNotToCopy(given).map(({ name, because }) => `Do not copy ${name} from a Password Pusher: ${because}.`),
    ...unused.map(unusedSentence),
    ...unknownNameWarnings(environment, knownNames),
    ...report.warnings,
  ];
  const rejected = new Set(report.mistakes.flatMap(({ names }) => names));
  const origins = all.map(
    ({ env, given: isGiven, shown }): SettingOrigin => ({
      name: env,
      from: !isGiven ? "default" : fromFile.has(env) ? "settings file" : "environment",
      shown: report.adjustedDefaults.get(env) ?? shown,
      ...(namesOfSource.includes(env) && { ofPasswordPusher: true }),
      ...((rejected.has(env) || rejected.has(`${env}_FILE`)) && { rejected: true }),
    }),
  );
  const common = {
    warnings,
    /** Every setting, in the order of the table. */
    origins,
    /** Settings of Password Pusher that are given and have no effect; `warnings` has a sentence on each. */
    unused,
    /** The environment with the settings file: also the settings of a Password Pusher in whose place this server runs. */
    given,
    dataDir: config.dataDir,
  };
  const mistakes = report.mistakes.map(({ sentence }) => sentence);
  if (mistakes.length > 0) return { ok: false as const, mistakes, ...common };
  const complete: Config = { ...config, origins };
  return { ok: true as const, config: complete, ...common };
}

/** The environment wins, also where it names a file with the value. `fromFile`: the names that the settings file provides. */
function withSettingsFile(variables: Environment, readFile: ReadFile, report: SettingReport) {
  const inFile = Object.entries(settingsFromFile(variables, readFile, report)).filter(
    ([name]) => variables[name] === undefined && (variables[`${name}_FILE`] ?? "").trim() === "",
  );
  return {
    given: { ...Object.fromEntries(inFile), ...variables },
    fromFile: new Set(inFile.map(([name]) => name)),
  };
}
