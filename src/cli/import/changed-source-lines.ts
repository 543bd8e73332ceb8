import { existsSync } from "node:fs";
import { sep } from "node:path";
import type { Config } from "../../config/config.ts";
import { ownDatabaseName } from "../../config/topics/move-in.ts";
import type { SourceChangedError } from "../../import/run-import.ts";
import { counted } from "../counted.ts";
import type { SourceOptions } from "./open-source.ts";

/**
 * Says what has changed on both sides, and what to type to import Password Pusher as it is now.
 * @param mark the file beside its database that says that it was moved; undefined: none.
 */
export function changedSourceLines(
  { message, changes, activity }: SourceChangedError,
  config: Pick<Config, "dataDir" | "database" | "moveIn">,
  options: SourceOptions,
  mark: string | undefined,
): readonly string[] {
  const done = Object.entries(activity)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => counted(count, what));
  const exchanged = "other rows under the same ids: --database is another copy of it";
  const databaseUrl = ownDatabaseName(config.moveIn);
  const command =
    config.moveIn === undefined || options.envFile !== undefined
      ? [`  sealpush import password-pusher${argumentsOf(options)}`]
      : [
          ...(mark === undefined ? [] : [`  rm ${quoted(mark)}`]),
          "  # then start the server again, with the same SEALPUSH_MOVE_IN",
        ];
  return [
    message,
    "",
    `  Changed there    ${changes.map(({ table, rows }) => `${table} ${rows}`).join(", ") || exchanged}`,
    `  Done here since  ${done.join(", ") || "nothing"}`,
    "",
    "A later import does not add up both sides. To import Password Pusher as it is now, use an empty data folder and an empty",
    "database. What was done here since is not in it:",
    "",
    ...emptyDatabaseLines(config, databaseUrl),
    `  export DATA_DIR=${quoted(freePath(config.dataDir))}`,
    ...command,
  ];
}

/** A file in the data folder needs no line of its own. */
function emptyDatabaseLines({ dataDir, database }: Pick<Config, "dataDir" | "database">, variable: string) {
  if (database.engine === "sqlite") {
    const isInside = database.path.startsWith(`${dataDir}${sep}`);
    return isInside ? [] : [`  export ${variable}=${quoted(`sqlite:${freePath(database.path)}`)}`];
  }
  const { host, port, user, database: name } = database;
  const address = `postgres://${encodeURIComponent(user)}:PASSWORD@${host}:${port}/${encodeURIComponent(`${name}_2`)}`;
  return [
    `  createdb --host=${quoted(host)} --port=${port} --username=${quoted(user)} ${quoted(`${name}_2`)}`,
    `  export ${variable}=${quoted(address)}`,
  ];
}

function argumentsOf({ envFile, database, storage = [] }: SourceOptions): string {
  const withoutPassword = database?.replace(/^([a-z0-9]+:\/\/[^:@/]*):[^@/]*@/i, "$1:PASSWORD@");
  const given = [
    ["--env-file", envFile],
    ["--database", withoutPassword],
    ...storage.map((location) => ["--storage", location] as const),
  ] as const;
  return given.map(([name, value]) => (value === undefined ? "" : ` ${name} ${quoted(value)}`)).join("");
}

function freePath(path: string): string {
  for (let number = 2; ; number += 1) {
    if (!existsSync(`${path}-${number}`)) return `${path}-${number}`;
  }
}

/** As a word of a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
