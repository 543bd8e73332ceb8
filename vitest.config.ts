import { defineConfig } from "vitest/config";

/** Runs of one test file: one for each engine that it is about. */
const engines = {
  sqlite: {
    include: ["src/**/*.test.{ts,tsx}", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: ["test/support/postgres/**", "src/**/postgres/**", "**/*.postgres.test.ts"],
  },
  postgres: {
    include: ["test/support/postgres/**/*.test.ts", "src/**/postgres/**/*.test.ts", "{src,test}/**/*.postgres.test.ts"],
    exclude: [],
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
