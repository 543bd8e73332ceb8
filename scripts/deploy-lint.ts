import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemErrorCode } from "../src/base/system-error.ts";
import { chartProblems } from "./deploy/chart.ts";
import { composeProblems } from "./deploy/compose.ts";
import { dockerfileProblems, imageOf } from "./deploy/dockerfile.ts";
import { factsOf, programNotes, programProblems } from "./deploy/facts.ts";
import { quadletProblems } from "./deploy/quadlet.ts";
import { templateProblems } from "./deploy/templates.ts";
import { backupUnitProblems, templateUnitProblems, unitProblems } from "./deploy/unit.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** External linters, run if they are installed. */
const linters: readonly { readonly command: string; readonly run: (folder: string) => readonly string[] }[] = [
  ...["deploy/compose/Caddyfile", "deploy/container/Caddyfile"].map((file) => ({
    command: "caddy",
    run: () => ["validate", "--adapter", "caddyfile", "--config", join(root, file)],
  })),
  {
    command: "systemd-analyze",
    run(folder) {
      // It checks that the program exists, which is elsewhere until it is installed.
      const files = ["sealpush.service", "sealpush@.service", "sealpush-backup.service"].map((name) => {
        const unit = read(`deploy/systemd/${name}`)
          .replaceAll("/opt/sealpush/node/bin/node", process.execPath)
          .replaceAll("/opt/sealpush", root);
        writeFileSync(join(folder, name), unit);
        // A template can be verified as one of its instances only.
        return join(folder, name.replace("@.", "@5100."));
      });
      return ["verify", "--man=no", ...files];
    },
  },
  {
    command: "helm",
    run: () => ["lint", "--strict", "--set=existingSecret=sealpush", join(root, "deploy/helm/sealpush")],
  },
];

function ownProblems(): readonly string[] {
  const packageJson = JSON.parse(read("package.json"));
  for (const note of programNotes(packageJson, process.versions.node)) console.warn(`note: ${note}`);
  const facts = factsOf(packageJson, (path) => existsSync(join(root, path)));
  const dockerfile = read("Dockerfile");
  const image = imageOf(dockerfile);
  const unit = read("deploy/systemd/sealpush.service");
  const chart = "deploy/helm/sealpush";
  const templates = readdirSync(join(root, chart, "templates")).map(
    (name) => [name, read(`${chart}/templates/${name}`)] as const,
  );
  const found: readonly (readonly [string, readonly string[]])[] = [
    ["src/config/pinned-programs.ts", programProblems(packageJson)],
    ["Dockerfile", dockerfileProblems(dockerfile, facts)],
    ...["compose.yaml", "deploy/compose/sqlite.yaml", "deploy/compose/postgres.yaml"].map(
      (file) => [file, composeProblems(read(file), facts, image)] as const,
    ),
    [
      chart,
      chartProblems(
        {
          chart: read(`${chart}/Chart.yaml`),
          values: read(`${chart}/values.yaml`),
          schema: read(`${chart}/values.schema.json`),
          templates: new Map(templates),
        },
        facts,
        image,
      ),
    ],
    ["deploy/systemd", unitProblems(unit, read("deploy/systemd/sealpush"))],
    ["deploy/systemd", backupUnitProblems(read("deploy/systemd/sealpush-backup.service"), unit)],
    ["deploy/systemd", templateUnitProblems(read("deploy/systemd/sealpush@.service"), unit)],
    ...["portainer.json", "unraid.xml", "casaos.yaml"].map((name) => {
      const file = `deploy/templates/${name}`;
      return [file, templateProblems(read(file), facts, image)] as const;
    }),
    ["deploy/podman", quadletProblems(read("deploy/podman/sealpush.container"), facts, image)],
  ];
  return found.flatMap(([file, problems]) => problems.map((problem) => `${file}: ${problem}`));
}

/** @returns the problems that a linter reports; none if it is not installed. */
function linterProblems(): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-deploy-"));
  try {
    return linters.flatMap(({ command, run }) => {
      const { error, status, stdout, stderr } = spawnSync(command, run(folder), { encoding: "utf8" });
      if (error !== undefined) {
        if (systemErrorCode(error) !== "ENOENT") throw error;
        console.log(`${command} is not installed, so it is skipped.`);
        return [];
      }
      return status === 0 ? [] : [`${command}: ${stdout}${stderr}`];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const problems = [...ownProblems(), ...linterProblems()];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log("The files of deploy/ match the server.");
