import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration, type ViteUserConfig } from "vitest/config";
import { filesOf, type ProjectName } from "./test/projects.ts";
import { cheapCostsInVitest } from "./test/support/run/cheap-costs.ts";
import Sequencer from "./test/support/run/sequencer.ts";

interface Project {
  readonly engine: "sqlite" | "postgres";
  /** false: many files share one process and its modules, which are loaded once. */
  readonly isolate: boolean;
  /** Of password hashes. */
  readonly costs: "cheap" | "shipped";
}

/**
 * The parts of the tests; `test/projects.ts` says what belongs to each. One of them: `npx vitest run --project unit src/crypto`.
 * A file on every engine that it is about, wherever it belongs: `npx vitest run src/pushes/claim`.
 */
const projects: Readonly<Record<ProjectName, Project>> = {
  /** Rules, stores and parsers: the files beside the code. */
  unit: { engine: "sqlite", isolate: false, costs: "cheap" },
  /** What is about the costs of password hashes: `*.costs.test.ts`. */
  costs: { engine: "sqlite", isolate: true, costs: "shipped" },
  /** The whole app in this process. */
  flows: { engine: "sqlite", isolate: false, costs: "cheap" },
  /** Each entry once: a browser, a started server, a command, PostgreSQL. */
  smoke: { engine: "sqlite", isolate: true, costs: "cheap" },
  "smoke-postgres": { engine: "postgres", isolate: true, costs: "cheap" },
  /** All that starts programs, races and faults; isolated: what replaces modules. */
  rest: { engine: "sqlite", isolate: false, costs: "cheap" },
  "rest-isolated": { engine: "sqlite", isolate: true, costs: "cheap" },
  /** All that touches a database, on PostgreSQL: in this process, and what starts programs. */
  postgres: { engine: "postgres", isolate: false, costs: "cheap" },
  "postgres-programs": { engine: "postgres", isolate: false, costs: "cheap" },
  "postgres-isolated": { engine: "postgres", isolate: true, costs: "cheap" },
  /** Two processes on one PostgreSQL. */
  deployment: { engine: "postgres", isolate: false, costs: "cheap" },
  /** The image, which is built for them. */
  image: { engine: "sqlite", isolate: true, costs: "cheap" },
};

/** Tests wait for timers and for other programs: with 1.5 for each of two cores, a quarter of their time is idle. */
const workersPerCore = 2;

const resolution = {
  resolve: {
    // The source of the packages, so that tests in this process need no build.
    alias: {
      "@sealpush/age": resolve(import.meta.dirname, "packages/age/src"),
      "@sealpush/client/command": resolve(import.meta.dirname, "packages/client/src/command/command.ts"),
      "@sealpush/client": resolve(import.meta.dirname, "packages/client/src/client.ts"),
      "@sealpush/import-password-pusher": resolve(
        import.meta.dirname,
        "packages/import-password-pusher/src/password-pusher.ts",
      ),
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
} satisfies ViteUserConfig;

const inEveryProject = {
  // They end what hangs and judge no speed: a machine that is shared may stop for seconds.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 120_000 } },
  pool: "forks",
  // Tests make much garbage that lives for a moment: a twentieth of their CPU time was collecting it.
  execArgv: ["--min-semi-space-size=16"],
} satisfies TestProjectInlineConfiguration["test"];

/**
 * A project that differs from the root in `test` alone shares its Vite server, which reads this file once and transforms each
 * module once.
 */
function configurationOf(name: ProjectName, { engine, isolate, costs }: Project): TestProjectInlineConfiguration {
  return {
    ...(costs === "shipped" ? { extends: false, ...resolution } : {}),
    test: {
      ...(costs === "shipped" ? inEveryProject : {}),
      name,
      include: [...filesOf(name)],
      isolate,
      ...(name === "image"
        ? { globalSetup: "test/image/setup.ts", fileParallelism: false, testTimeout: 600_000, hookTimeout: 600_000 }
        : {}),
      setupFiles: engine === "postgres" ? ["./test/support/postgres/after-file.ts"] : [],
      // A DATABASE_URL of the tester's own must not reach a test.
      env: { SEALPUSH_TEST_ENGINE: engine, SEALPUSH_TEST_COSTS: costs, DATABASE_URL: "" },
    },
  };
}

export default defineConfig({
  ...resolution,
  plugins: [cheapCostsInVitest],
  test: {
    ...inEveryProject,
    sequence: { sequencer: Sequencer },
    maxWorkers: Math.ceil(availableParallelism() * workersPerCore),
    reporters: ["default", ...(process.env.SEALPUSH_TEST_NO_SKIPS === "yes" ? ["./test/support/run/verdict.ts"] : [])],
    globalSetup: "test/support/run/global-setup.ts",
    projects: (Object.keys(projects) as ProjectName[]).map((name) => configurationOf(name, projects[name])),
  },
});
