import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** The folders that each folder of src/ may import, and the package `age`; all others are forbidden. See `docs/ARCHITECTURE.md`. */
const foundations = ["base", "config", "crypto", "database", "limits", "blobs", "telemetry"];
const allowed: Readonly<Record<string, readonly string[]>> = {
  base: [],
  config: ["base", "crypto", "i18n"],
  crypto: ["base"],
  database: ["base", "config", "crypto"],
  limits: ["base", "crypto", "database"],
  blobs: ["base"],
  telemetry: ["base", "config"],
  mail: ["base", "config", "crypto", "database", "telemetry", "i18n"],
  i18n: ["base"],
  branding: ["base", "crypto", "database"],
  policies: ["base", "age", "config", "crypto", "database"],
  pushes: [...foundations, "age", "policies"],
  accounts: [...foundations, "age", "mail"],
  requests: [...foundations, "age", "policies", "pushes"],
  health: [...foundations],
  domain: [...foundations, "mail", "branding", "policies", "pushes", "accounts", "requests", "health"],
  http: [...foundations, "policies", "pushes", "accounts", "requests"],
  api: [...foundations, "i18n", "policies", "pushes", "accounts", "requests", "http"],
  pages: [...foundations, "mail", "branding", "i18n", "policies", "pushes", "accounts", "requests", "health", "http"],
  tables: ["crypto", "database", "mail", "branding", "policies", "pushes", "accounts", "requests", "import"],
  jobs: [...foundations, "mail", "pushes", "accounts", "domain"],
  backup: [...foundations, "pushes", "accounts", "domain"],
  move: ["base", "crypto", "database", "pushes"],
  import: [...foundations, "i18n", "pushes", "accounts", "branding", "domain"],
  cli: [
    ...foundations,
    "mail",
    "pushes",
    "accounts",
    "http",
    "domain",
    "backup",
    "move",
    "import",
    "branding",
    "tables",
    "policies",
    "client-verbs",
  ],
  app: [
    ...foundations,
    "mail",
    "branding",
    "policies",
    "pushes",
    "requests",
    "accounts",
    "http",
    "api",
    "pages",
    "jobs",
    "domain",
  ],
  serve: ["config", "app"],
  "client-verbs": [],
  program: ["base", "config", "telemetry", "domain", "serve", "cli"],
  main: ["node-version.js", "client-verbs", "program"],
  browser: ["base", "age"],
};

/** Folders with an entry file: other folders may import only that file. */
const doors: Readonly<Record<string, string>> = {
  pushes: "pushes/pushes.ts",
  accounts: "accounts/accounts.ts",
  requests: "requests/requests.ts",
  branding: "branding/branding.ts",
};
/** Folders that may import past an entry file: those that compose the domain or work on its internals. */
const insiders = new Set(["domain", "tables", "jobs", "backup", "cli", "move", "import"]);

const source = resolve(import.meta.dirname, "../src");

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.(test|contract)\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

const root = resolve(source, "..");

function roomOf(file: string): string {
  const path = relative(source, file);
  return path.includes("/") ? (path.split("/")[0] ?? "") : path.replace(/\.tsx?$/, "");
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
}

const packages = resolve(import.meta.dirname, "../packages");

/** A package imports itself and its dependencies, nothing of the server; others import it only by its name. */
function problemsOfPackage(name: string): string[] {
  const folder = join(packages, name);
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const installed = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const isAllowed = (file: string, imported: string) => {
    if (!imported.startsWith(".")) {
      return imported.startsWith("node:") || installed.some((own) => `${imported}/`.startsWith(`${own}/`));
    }
    const target = resolve(dirname(file), imported);
    return target.startsWith(`${folder}/`);
  };
  return filesBelow(join(folder, "src")).flatMap((file) =>
    importsOf(readFileSync(file, "utf8"))
      .filter((imported) => !isAllowed(file, imported))
      .map((imported) => `packages/${relative(packages, file)}: a package may not import ${imported}`),
  );
}

function problemsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const from = relative(source, file);
  const room = roomOf(file);
  const problems = importsOf(text).flatMap((imported) =>
    imported.startsWith(".") ? problemsOfPath(file, imported) : problemsOfName(from, room, imported),
  );
  if (
    /\bprocess\.(argv|env|exit|exitCode|stdin|stdout|stderr|cwd|on|pid|umask)\b/.test(text) &&
    !["main", "program", "browser"].includes(room)
  ) {
    problems.push(`${from}: only main.ts and program.ts touch process.*`);
  }
  const speaksSql =
    /"(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE)\s|`\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE)\s/;
  if (speaksSql.test(text) && !mayHoldSql(from)) problems.push(`${from}: only database and the stores hold SQL`);
  return problems;
}

function problemsOfName(from: string, room: string, imported: string): string[] {
  if (imported.startsWith("@sealpush/age/")) {
    return (allowed[room] ?? []).includes("age") ? [] : [`${from}: ${room} may not import ${imported}`];
  }
  if (imported.startsWith("@sealpush/") && !["cli", "main", "import"].includes(room)) {
    return [`${from}: only cli, main and import may import ${imported}`];
  }
  const isStray = imported === "better-sqlite3" && from !== "database/sqlite/driver.ts";
  return isStray ? [`${from}: only database/sqlite/driver.ts may import ${imported}`] : [];
}

function problemsOfPath(file: string, imported: string): string[] {
  const [from, room] = [relative(source, file), roomOf(file)];
  const target = resolve(dirname(file), imported);
  if (target.startsWith(`${packages}/`)) return [`${from}: imports a package past its name (${imported})`];
  if (!target.startsWith(`${source}/`)) return [];
  const targetRoom = roomOf(target);
  if (targetRoom === room) return [];
  const isStray = !(allowed[room] ?? []).includes(targetRoom);
  const door = doors[targetRoom];
  const isPast = door !== undefined && !insiders.has(room) && relative(source, target) !== door;
  return [
    ...(isStray ? [`${from}: ${room} may not import ${targetRoom}`] : []),
    ...(isPast ? [`${from}: imports ${relative(source, target)} past the entry file ${door}`] : []),
  ];
}

/** `vault` stores the index key itself. */
function mayHoldSql(path: string): boolean {
  return path.startsWith("database/") || /(^|\/)(sqlite|postgres|store)\//.test(path) || path === "pushes/vault.ts";
}

/** Files that import each other, imports of types included. Biome's rule for it would cost 2 s of CPU. */
function importCircles(folders: readonly string[]): string[] {
  const files = new Set(folders.flatMap((folder) => filesBelow(join(root, folder))));
  const circles: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const begin = path.indexOf(file);
    if (begin !== -1) circles.push([...path.slice(begin), file].map((each) => relative(root, each)).join(" -> "));
    if (begin !== -1 || done.has(file)) return;
    path.push(file);
    for (const imported of importsOf(readFileSync(file, "utf8"))) {
      const target = resolve(dirname(file), imported);
      if (imported.startsWith(".") && files.has(target)) visit(target);
    }
    path.pop();
    done.add(file);
  };
  for (const file of files) visit(file);
  return circles.map((circle) => `These files import each other: ${circle}`);
}

const topFolders = ["src", "test", "scripts", "bench", ...readdirSync(packages).map((name) => `packages/${name}/src`)];
const problems = [
  ...importCircles(topFolders),
  ...filesBelow(source).flatMap(problemsOf),
  ...readdirSync(packages).flatMap(problemsOfPackage),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log("The imports follow the rules.");
