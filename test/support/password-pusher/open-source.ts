import { join } from "node:path";
import type { ImportSource } from "@sealpush/import-password-pusher";
import {
  type DatabaseAddress,
  type Installation as DescribedInstallation,
  openPasswordPusher,
} from "@sealpush/import-password-pusher";
import type { Database as Connection } from "better-sqlite3";
import pg from "pg";
import { onTestFinished } from "vitest";
import { openPrivateCopy } from "../../../src/database/sqlite/private-copy.ts";
import { referenceTime } from "./expected.ts";
import { type Installation, installProduction } from "./installations.ts";

interface Changes {
  /** A URL as in DATABASE_URL. */
  readonly database?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Opens the source; it is closed after the test. The time is the reference time of the fixture. */
export async function openSource(installation: Installation, changed: Changes = {}): Promise<ImportSource> {
  const source = await openPasswordPusher(descriptionOf({ ...installation, ...changed }), { now: referenceTime });
  onTestFinished(() => source.close());
  return source;
}

/** The production fixture on SQLite, with these changes to it. */
export async function readAfter(change: (connection: Connection) => void): Promise<ImportSource> {
  return await openSource(installProduction(change));
}

export function readingOptions({ folder }: Pick<Installation, "folder">) {
  return { now: referenceTime, scratchFolder: join(folder, "scratch") };
}

export const noObjects: DescribedInstallation["objects"] = {
  has: () => false,
  read() {
    throw new Error("The installation has no object store.");
  },
};

function descriptionOf({ database, storageFolder, environment, folder }: Installation): DescribedInstallation {
  return {
    database: addressOf(database, folder),
    storageFolder,
    objects: noObjects,
    secret: (name) => environment[name] || undefined,
  };
}

/** @param database `sqlite:PATH`, or the URL of a server without TLS. */
export function addressOf(database: string, folder: string): DatabaseAddress {
  if (database.startsWith("sqlite:")) {
    const path = database.slice("sqlite:".length);
    return { engine: "sqlite", connect: () => openPrivateCopy({ path, ...readingOptions({ folder }) }) };
  }
  const url = new URL(database);
  const server = {
    host: url.hostname,
    port: Number(url.port),
    user: url.username,
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1),
  };
  if (url.protocol.startsWith("postgres")) {
    return {
      engine: "postgres",
      server: url.host,
      async connect() {
        const client = new pg.Client(server).on("error", () => undefined);
        await client.connect();
        return client;
      },
    };
  }
  return {
    engine: "mysql",
    ...server,
    socketPath: undefined,
    tls: { mode: "disabled", rootCertificateFile: undefined },
  };
}

export async function collect<T>(rows: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
