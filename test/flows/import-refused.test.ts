import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { settingsOfEngine } from "../support/engine.ts";
import { importOf, makeImportTarget } from "../support/password-pusher/import-run.ts";
import { type Installation, installProduction, keysOfFixture } from "../support/password-pusher/installations.ts";
import { bucket, credentials, environmentOf, region } from "../support/s3/object-store.ts";

const endpoint = "https://s3.example.com";
const ofBucket = {
  PWP__FILES__S3__ENDPOINT: `${endpoint.toUpperCase().replace("HTTPS", "https")}`,
  PWP__FILES__S3__BUCKET: bucket,
  PWP__FILES__S3__REGION: region,
  PWP__FILES__S3__ACCESS_KEY_ID: credentials.accessKeyId,
  PWP__FILES__S3__SECRET_ACCESS_KEY: credentials.secretAccessKey,
};

const wrong: readonly (readonly [string, (installation: Installation) => Partial<Installation>, RegExp])[] = [
  ["scheme", () => ({ database: "oracle://user@host/db" }), /^--database cannot be used: it must be sqlite:PATH/],
  ["key", () => ({ environment: { PWPUSH_MASTER_KEY: "short" } }), /^PWPUSH_MASTER_KEY is not a key/],
  ["folder", ({ folder }) => ({ storage: [join(folder, "none")] }), /^--storage names .*, which is not a folder\.$/],
  ["bucket", () => ({ storage: ["s3://files?what=ever"] }), /^--storage s3:\/\/… takes the parameters/],
];

test.each(wrong)(
  "a wrong %s is one sentence and the exit code of a wrong command line",
  async (_, change, sentence) => {
    const installation = installProduction();
    const run = await makeImportTarget().run({ ...installation, ...change(installation) });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr.trim()).toMatch(sentence);
    expect(run.stderr.trim().split("\n")).toHaveLength(1);
  },
);

test("a master key of the source is refused as the key of this installation, unless it is an older one", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const { PWPUSH_MASTER_KEY, PWPUSH_MASTER_KEY_PREVIOUS } = keysOfFixture;
  const [previous = ""] = PWPUSH_MASTER_KEY_PREVIOUS.split(",");
  for (const shared of [PWPUSH_MASTER_KEY, PWPUSH_MASTER_KEY.toUpperCase(), previous]) {
    const run = await target.cli.run(importOf(installation), { environment: { PWPUSH_MASTER_KEY: shared } });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toContain("(PWPUSH_MASTER_KEY) is a key of Password Pusher");
    expect(run.stderr.toLowerCase()).not.toContain(shared.toLowerCase());
  }
  const asFile = join(target.cli.dataDir, "master.key");
  mkdirSync(target.cli.dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(asFile, `${PWPUSH_MASTER_KEY}\n`, { mode: 0o600 });
  expect((await target.run(installation)).stderr).toContain(`(${asFile}) is a key of Password Pusher`);

  const environment = { PWPUSH_MASTER_KEY: "ab".repeat(32), PWPUSH_MASTER_KEY_PREVIOUS: PWPUSH_MASTER_KEY };
  expect((await target.cli.run(importOf(installation), { environment })).exitCode).toBe(3);
});

test("a report in a folder that does not exist is refused", async () => {
  const installation = installProduction();
  const report = join(installation.folder, "none/report.json");
  const run = await makeImportTarget().run(installation, "--report", report);
  expect(run).toMatchObject({ exitCode: 1, stdout: "" });
  expect(run.stderr).toContain(`The folder of ${report} does not exist: give --report another path.\n`);
});

test("a file that is not a database is reported once with its error code", async () => {
  const installation = installProduction();
  const text = join(installation.folder, "text.sqlite3");
  writeFileSync(text, "This is not a database, but long enough to be one. ".repeat(20));
  const run = await makeImportTarget().run({ ...installation, database: `sqlite:${text}` });
  expect(run).toMatchObject({ exitCode: 1, stdout: "" });
  expect(run.stderr.split("SQLITE_NOTADB")).toHaveLength(2);
});

test("damaged tables are reported as a problem of the source, with instructions", async () => {
  const pageBytes = 4_096;
  let roots: readonly number[] = [];
  const installation = installProduction((connection) => {
    connection.pragma("journal_mode = DELETE");
    const ofPushes = "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'pushes'";
    roots = connection
      .prepare<[], { rootpage: number }>(ofPushes)
      .all()
      .map(({ rootpage }) => rootpage);
  });
  const bytes = readFileSync(installation.databasePath);
  for (const root of roots) bytes.fill(0xff, (root - 1) * pageBytes, root * pageBytes);
  writeFileSync(installation.databasePath, bytes);
  const run = await makeImportTarget().run(installation);
  expect(run).toMatchObject({ exitCode: 1, stdout: "" });
  expect(run.stderr.trim().split("\n").at(-1)).toMatch(
    /^The source database is damaged \(SQLITE_CORRUPT\w*\): repair a copy of it, and import the copy\.$/,
  );
});

test("settings that still name the old database are refused with an explanation, and it is not changed", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const folder = dirname(installation.databasePath);
  const state = () => [readdirSync(folder), readFileSync(installation.databasePath)];
  const before = state();
  for (const dryRun of [["--dry-run"], []]) {
    const run = await target.cli.run(importOf(installation, ...dryRun), {
      environment: { DATABASE_URL: `sqlite3:${installation.databasePath}` },
    });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toMatch(/^DATABASE_URL of this installation names the database of the Password Pusher/);
  }
  expect(state()).toEqual(before);

  const copy = join(installation.folder, "copy.sqlite3");
  copyFileSync(installation.databasePath, copy);
  const environment = { DATABASE_URL: `sqlite3:${copy}`, PWPUSH_MASTER_KEY: "ab".repeat(32) };
  for (const dryRun of [["--dry-run"], []]) {
    const run = await target.cli.run(importOf(installation, ...dryRun), { environment });
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    expect(run.stderr).toMatch(
      /DATABASE_URL names holds the tables of another program: give this server its own database/,
    );
  }
});

test("using the same folder or bucket for the source's files and this server's files is refused", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  mkdirSync(join(target.cli.dataDir, "blobs"), { recursive: true });
  for (const folder of [target.cli.dataDir, `${target.cli.dataDir}/blobs/../blobs/`]) {
    for (const dryRun of [["--dry-run"], []]) {
      const run = await target.run({ ...installation, storage: [folder] }, ...dryRun);
      expect(run).toMatchObject({ exitCode: 2, stdout: "" });
      expect(run.stderr).toMatch(/where this installation keeps its own files/);
    }
  }
  const inBucket = { ...installation, environment: { ...keysOfFixture, ...ofBucket } };
  const own = { environment: environmentOf({ endpoint }) };
  const run = await target.cli.run(importOf(inBucket), own);
  expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  expect(run.stderr).toMatch(
    /^The bucket sealed-files of the source is the one where this installation keeps its own files/,
  );
  expect(readdirSync(join(target.cli.dataDir, "blobs"))).toEqual([]);
});

test("an import next to the source's folder neither writes nor deletes anything in it", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const files = () => readdirSync(installation.storageFolder, { recursive: true, encoding: "utf8" }).sort();
  const before = files();
  const inside = join(installation.storageFolder, "sealpush");
  const environment = { ...(await settingsOfEngine(inside)), DATA_DIR: inside };
  expect((await target.cli.run(importOf(installation), { environment })).exitCode).toBe(3);
  expect(files().filter((name) => !name.startsWith("sealpush"))).toEqual(before);
  const again = await target.cli.run(importOf(installation), { environment });
  expect(again.exitCode).toBe(3);
  expect(again.stdout).not.toContain("do not agree");
});
