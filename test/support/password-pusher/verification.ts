import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { withDatabaseOf } from "../database-of.ts";
import { engine } from "../engine.ts";
import { changeRows, readRows } from "../engine-database.ts";
import { type ImportTarget, makeImportTarget, pushTagged } from "./import-run.ts";
import { type Installation, installProduction } from "./installations.ts";

export const lost = `push ${pushTagged("sealed-lost-key").id} (failed): No key opens its payload.`;
export const alice = 3;
export const carol = 6;

/** The lines about rows, without the table of counts. */
export const findingsIn = (stdout: string) => stdout.split("\n").filter((line) => /^(push|user) \d+ \(/.test(line));

export async function verified(target: ImportTarget, installation: Installation) {
  const { exitCode, stdout, stderr } = await target.verify(installation);
  const findings = findingsIn(stdout).filter((line) => line !== lost);
  return { exitCode, findings, stdout, stderr };
}

/**
 * The whole installation and a complete import of it, for each test of a file: call it at the top of the file. On SQLite the first
 * test imports it, and the others get a copy.
 */
export function shareImport(): () => Promise<{ target: ImportTarget; installation: Installation }> {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-"));
  const copy = join(folder, "data");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return async () => {
    const target = makeImportTarget();
    const installation = installProduction();
    if (existsSync(copy)) cpSync(copy, target.cli.dataDir, { recursive: true });
    else await target.run(installation);
    if (engine === "sqlite" && !existsSync(copy)) cpSync(target.cli.dataDir, copy, { recursive: true });
    return { target, installation };
  };
}

/** The id that a row of the source has here. */
export async function idHere(db: Database, kind: "user" | "push", sourceId: number): Promise<number> {
  const [row] = await readRows(db, `SELECT id FROM imported_rows WHERE kind = '${kind}' AND source_id = ${sourceId}`);
  return Number(row?.id);
}

/** Runs the SQL on the data here. `$push` and `$user` are the ids of these rows of the source. */
export async function damage(target: ImportTarget, statement: string, sourceId: number): Promise<void> {
  const changed = await withDatabaseOf(target.cli.dataDir, async (db) => {
    const kind = statement.includes("$user") ? "user" : "push";
    return await changeRows(db, statement.replaceAll(`$${kind}`, String(await idHere(db, kind, sourceId))));
  });
  expect(changed).toBeGreaterThan(0);
}

export const { id: plain } = pushTagged("text-plain");
export const { id: protectedPush } = pushTagged("text-passphrase-utf8");

export const failuresOf = (findings: readonly string[], table: "user" | "push", id: number) =>
  findings
    .filter((line) => line.startsWith(`${table} ${id} (failed): `))
    .map((line) => line.replace(/^.*? \(failed\): /, ""));
