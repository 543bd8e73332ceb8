import { databaseUrl } from "../database-url.ts";
import { type Environment, optionalSetting, type ParsedGroup, type SettingReport } from "../setting.ts";
import { oneOf } from "../value-types.ts";
import { storageSettings } from "./files.ts";
import { keySettings } from "./keys.ts";
import { serverSettings } from "./server.ts";

const moveInName = "SEALPUSH_MOVE_IN";

export const moveInSettings = {
  title: "Moving in",
  intro:
    "For a server that takes the place of a Password Pusher, with its environment and its volume. While `SEALPUSH_MOVE_IN` is set, `DATABASE_URL`, `PWPUSH_MASTER_KEY`, `PWPUSH_MASTER_KEY_PREVIOUS` and the settings of file storage are those of Password Pusher. This server then has its master key, its files and, unless `SEALPUSH_DATABASE_URL` is set, its database in `DATA_DIR`. See docs/deployment.md.",
  settings: {
    wanted: optionalSetting({
      env: moveInName,
      doc: "With `yes`, the first start imports everything, and later ones serve at once. With `no`, the server starts empty. Password Pusher's data are only read.",
      type: oneOf({ yes: "yes", no: "no" }),
      unset: "the start refuses to ignore the data of a Password Pusher",
    }),
    databaseUrl: optionalSetting({
      env: "SEALPUSH_DATABASE_URL",
      doc: "The database of this server while `SEALPUSH_MOVE_IN` is set, in the form of `DATABASE_URL`.",
      type: databaseUrl,
      unset: "sealpush.sqlite3 in DATA_DIR",
      hidden: "when_rejected",
    }),
  },
};

const namesOfSource = [
  serverSettings.settings.databaseUrl,
  ...Object.values(keySettings.settings),
  ...Object.values(storageSettings.settings),
].flatMap(({ env }) => [env, `${env}_FILE`]);

/** The name of the setting of this server's own database. @param moveIn the value of SEALPUSH_MOVE_IN. */
export function ownDatabaseName(moveIn: string | undefined): string {
  const isOfSource = (moveIn ?? "").trim() !== "";
  return isOfSource ? moveInSettings.settings.databaseUrl.env : serverSettings.settings.databaseUrl.env;
}

/** Separates the settings of this server from those that are Password Pusher's while SEALPUSH_MOVE_IN is set. */
export function withoutNamesOfSource(given: Environment): {
  readonly own: Environment;
  readonly namesOfSource: readonly string[];
} {
  if ((given[moveInName] ?? "").trim() === "") return { own: given, namesOfSource: [] };
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => !namesOfSource.includes(name)));
  return { own, namesOfSource: namesOfSource.filter((name) => (given[name] ?? "").trim() !== "") };
}

export function moveInConfig({ wanted, databaseUrl: own }: ParsedGroup<typeof moveInSettings>, report: SettingReport) {
  if (own.given && !wanted.given && wanted.mistake === undefined) {
    report.mistake(
      `${own.env} is only used while ${wanted.env} is set. Without it, the database is the one of DATABASE_URL.`,
      own.env,
    );
  }
  return wanted.value;
}
