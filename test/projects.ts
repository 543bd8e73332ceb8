import { globSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob, resolve } from "node:path";

/**
 * Which test file is part of which project of `vitest.config.ts`. It follows from the folder, from the end of the name and from
 * what the file imports, so that a new file needs no entry here.
 */

export type ProjectName =
  | "unit"
  | "costs"
  | "flows"
  | "smoke"
  | "smoke-postgres"
  | "rest"
  | "rest-isolated"
  | "postgres"
  | "postgres-programs"
  | "postgres-isolated"
  | "deployment"
  | "image";

const root = resolve(import.meta.dirname, "..");
const all = globSync(["{src,packages/*/src,test,scripts}/**/*.test.{ts,tsx}"], { cwd: root }).toSorted();

/** Building and running the image needs root, podman and some minutes. */
const hasImage = process.env.SEALPUSH_TEST_IMAGE === "yes";

/** Where Debian's package has put it; not given: what needs it is no part of the run. */
const hasPgbouncer = (process.env.SEALPUSH_TEST_PGBOUNCER ?? "") !== "";

/** About what only the embedded database has. What PostgreSQL promises in its place has tests of its own. */
const aboutSqlite = [
  // The engine itself: its log, its groups of commits, its lock.
  "src/database/sqlite/**",
  // Which bytes its pages and its log still hold after a key was destroyed.
  "src/pushes/{link-secret-overwritten,claim/log-after-kill,store/trim-data-keys}.test.ts",
  // Which index its planner takes.
  "src/accounts/store/session-search.test.ts",
  // A file that is no database.
  "src/cli/damaged-file.test.ts",
  // The disk under it, and its log, fill up; its folder or its file cannot be written; a trigger of it never ends.
  "test/faults/{break-glass-sigkill,disk-full,foreign-file,replace-access-sigkill,start-on-file}.test.ts",
  // Backups copy its file; those of a server's database are PostgreSQL's own.
  "src/backup/**",
  "test/{flows,faults}/backup*.test.ts",
  // Its log is synced when the disk allows it.
  "test/faults/slow-disk.test.ts",
];

/** Where the engine makes no difference and the test takes time. */
const aboutNoEngine = [
  // A client of the API.
  "test/flows/own-client/**",
  // Where the data of a Password Pusher are, what is marked there, and what is said of each difference.
  "test/flows/{move-in-source,import-verify-findings}.test.ts",
  // Packages that are not installed.
  "test/faults/tracing-missing.test.ts",
  // An option of Node in each command that starts the server; the signal is handled before the program is loaded.
  "test/faults/debugger-signal.test.ts",
  // Memory for requests and answers.
  "test/faults/overload.test.ts",
  // Which costs the built program has.
  "test/flows/shipped.costs.test.ts",
  // What a start says of its settings, and which signals stop a server.
  "test/faults/{start-settings,stop-signals}.test.ts",
  // Which connections a server still serves while it stops, and on which of its ports. That it closes its database is in stop.test.ts.
  "test/faults/{drain,gateway}.test.ts",
  // The entry point of the image.
  "test/flows/container*.test.ts",
  // Headers of requests and of emails, and where answers redirect to. Hostile values reach the database in hostile-requests and odd-text.
  "test/flows/{cross-site,loaded-by-a-page,attack-mail-headers,attack-redirects}.test.ts",
  // What pages show, and rules that the program applies. Each of their statements, with rows and without, is sent to PostgreSQL by
  // at least two of the flows that stay on both.
  "test/flows/{about,account-defaults,admin-theme,appearance,assets,end-to-end,gateway,language-choice,link-cards}.test.ts",
  "test/flows/{page-addresses,page-of-long-text,page-weights,policies,program-addresses,request-log}.test.ts",
  "test/flows/{single-sign-on-trust,single-sign-on-unused,theme-choice,tracing,web-app}.test.ts",
  // What other clients of the API send.
  "test/flows/clients/**",
  // A server without a database, and what it sends.
  "src/{http,pages}/**",
  // Scripts and clicks. The same pages are asked for by test/flows, on both engines; test/smoke/browser.test.ts opens a secret on each.
  "test/browser/**",
  "test/smoke/!(browser).test.ts",
];

const onPostgresOnly = [
  "test/deployment/**",
  "test/support/postgres/**",
  "src/**/postgres/**",
  "**/*.postgres.test.ts",
];

const matches = (file: string, patterns: readonly string[]) => patterns.some((pattern) => matchesGlob(file, pattern));

const texts = new Map<string, string>();

function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(root, file), "utf8");
  texts.set(file, text);
  return text;
}

/** The modules that a file loads, without types and without packages. */
function importsOf(file: string): readonly string[] {
  return [
    ...textOf(file).matchAll(
      /^\s*(?:import|export) (?!type\b)[^;]*?"(\.[^"]+)";|import\("(\.[^"]+)"\)|^import "(\.[^"]+)";/gm,
    ),
  ]
    .map(([, named = "", dynamic = "", bare = ""]) => named || dynamic || bare)
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(dirname(file), path));
}

const loadedBy = new Map<string, ReadonlySet<string>>();

/** The test support that a file loads, directly or not. */
function supportOf(file: string): ReadonlySet<string> {
  const known = loadedBy.get(file);
  if (known !== undefined) return known;
  const found = new Set<string>();
  loadedBy.set(file, found);
  for (const path of importsOf(file)) {
    if (!path.startsWith("test/") && !/test-support/.test(path)) continue;
    found.add(path);
    for (const inner of supportOf(path)) found.add(inner);
  }
  return found;
}

const loads = (file: string, ...paths: readonly string[]) => paths.some((path) => supportOf(file).has(path));

/** It starts programs: the product's, a browser, or those of the system. */
const startsPrograms = (file: string) =>
  [file, ...supportOf(file)].some((path) => textOf(path).includes('from "node:child_process"'));

const isAboutCosts = (file: string) => file.endsWith(".costs.test.ts");

/** It replaces modules, which needs a process of its own. */
const replacesModules = (file: string) => textOf(file).includes("vi.mock(");

function projectOnSqlite(file: string): ProjectName | undefined {
  if (file.startsWith("test/image/")) return hasImage ? "image" : undefined;
  if (file.startsWith("test/smoke/")) return "smoke";
  if (isAboutCosts(file)) return "costs";
  if (replacesModules(file)) return "rest-isolated";
  if (startsPrograms(file)) return "rest";
  if (!file.startsWith("test/")) return "unit";
  return file.startsWith("test/flows/") ? "flows" : "rest";
}

function projectOnPostgres(file: string): ProjectName | undefined {
  if (file.endsWith("pgbouncer.test.ts") && !hasPgbouncer) return undefined;
  if (file.startsWith("test/deployment/")) return "deployment";
  if (file.startsWith("test/smoke/") && matches(file, onPostgresOnly)) return "smoke-postgres";
  const isAboutBoth = loads(file, "test/support/engine.ts") && !matches(file, [...aboutSqlite, ...aboutNoEngine]);
  if (!matches(file, onPostgresOnly) && !isAboutBoth) return undefined;
  if (isAboutCosts(file) || replacesModules(file)) return "postgres-isolated";
  return startsPrograms(file) ? "postgres-programs" : "postgres";
}

const projectsOfFiles = all.map((file) => ({
  file,
  projects: [matches(file, onPostgresOnly) ? undefined : projectOnSqlite(file), projectOnPostgres(file)],
}));

/** @returns the test files of a project, as paths below the root of the repository. */
export function filesOf(project: ProjectName): readonly string[] {
  return projectsOfFiles.filter(({ projects }) => projects.includes(project)).map(({ file }) => file);
}
