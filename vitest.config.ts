import { defineConfig } from "vitest/config";

/** Where Debian's package has put it; not given: what needs it is no part of the run. */
const hasPgbouncer = (process.env.SEALPUSH_TEST_PGBOUNCER ?? "") !== "";

/** Runs of one test file: one for each engine that it is about. */
const engines = {
  sqlite: {
    include: ["src/**/*.test.{ts,tsx}", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: ["test/support/postgres/**", "src/**/postgres/**", "**/*.postgres.test.ts"],
  },
  postgres: {
    include: [
      ...["test/support/postgres/**/*.test.ts", "src/**/postgres/**/*.test.ts", "{src,test}/**/*.postgres.test.ts"],
      ...["src/accounts/**/*.test.ts", "src/branding/branding.test.ts", "src/mail/{delivery,mail,outbox}.test.ts"],
    ],
    exclude: hasPgbouncer ? [] : ["**/*pgbouncer.test.ts"],
  },
};

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    globalSetup: "test/support/postgres/global-setup.ts",
    projects: Object.entries(engines).map(([name, files]) => ({
      extends: true,
      // A DATABASE_URL of the tester's own must not reach a test.
      test: { name, ...files, env: { SEALPUSH_TEST_ENGINE: name, DATABASE_URL: "" } },
    })),
  },
});
