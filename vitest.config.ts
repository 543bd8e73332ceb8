import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

/** Where Debian's package has put it; not given: what needs it is no part of the run. */
const hasPgbouncer = (process.env.SEALPUSH_TEST_PGBOUNCER ?? "") !== "";

/** About what only the embedded database has. What PostgreSQL promises in its place has tests of its own. */
const aboutSqlite = [
  // The engine itself: its log, its groups of commits, its lock.
  "src/database/sqlite/**",
  // Which bytes its pages and its log still hold after a key was destroyed.
  "src/pushes/{claim/log-after-kill,store/trim-data-keys}.test.ts",
  // A file that is no database.
  "src/cli/damaged-file.test.ts",
  // The disk under it, and its log, fill up; its folder or its file cannot be written; a trigger of it never ends.
  "test/faults/{disk-full,foreign-file,replace-access-sigkill,start-on-file}.test.ts",
  // Backups copy its file; those of a server's database are PostgreSQL's own.
  "src/backup/**",
  "test/{flows,faults}/backup*.test.ts",
  // It stays one process.
  "test/faults/slow-disk.test.ts",
  "test/faults/sqlite-one-process.test.ts",
];

/** Where the engine makes no difference and the test takes time. */
const aboutNoEngine = [
  // A client of the API.
  "test/flows/own-client/**",
  // Packages that are not installed.
  "test/faults/tracing-missing.test.ts",
  // Memory for requests and answers.
  "test/faults/overload.test.ts",
  // The entry point of the image.
  "test/flows/container*.test.ts",
];

/** Runs of one test file: one for each engine that it is about. */
const engines = {
  sqlite: {
    include: ["src/**/*.test.{ts,tsx}", "packages/*/src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: ["test/support/postgres/**", "src/**/postgres/**", "**/*.postgres.test.ts", "test/deployment/**"],
  },
  postgres: {
    include: [
      "test/support/postgres/**/*.test.ts",
      "src/**/postgres/**/*.test.ts",
      "{src,test}/**/*.postgres.test.ts",
      // The rooms that ask the database something, and all that is tested from outside.
      "src/{accounts,branding,cli,database,jobs,limits,mail,pushes,requests}/**/*.test.ts",
      "test/{flows,faults,races}/**/*.test.ts",
      // Of the browser's, those that between them touch every room's data: pages speak to no database themselves.
      "test/browser/{account,admin,dashboard,edit,gone,open,passkeys,tokens}.test.ts",
    ],
    exclude: [...aboutSqlite, ...aboutNoEngine, ...(hasPgbouncer ? [] : ["**/*pgbouncer.test.ts"])],
  },
  // Two processes on one PostgreSQL.
  deployment: { include: ["test/deployment/**/*.test.ts"], exclude: [] },
};

export default defineConfig({
  resolve: {
    // The source of the packages, so that tests in this process need no build.
    alias: {
      "@sealpush/client/command": resolve(import.meta.dirname, "packages/client/src/command/command.ts"),
      "@sealpush/client": resolve(import.meta.dirname, "packages/client/src/client.ts"),
      "@sealpush/import-password-pusher": resolve(
        import.meta.dirname,
        "packages/import-password-pusher/src/password-pusher.ts",
      ),
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    // They end what hangs and judge no speed: a machine that is shared may stop for seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000 } },
    pool: "forks",
    maxWorkers: 2,
    globalSetup: "test/support/postgres/global-setup.ts",
    projects: Object.entries(engines).map(([name, files]) => ({
      extends: true,
      // A DATABASE_URL of the tester's own must not reach a test.
      test: { name, ...files, env: { SEALPUSH_TEST_ENGINE: name === "sqlite" ? name : "postgres", DATABASE_URL: "" } },
    })),
  },
});
