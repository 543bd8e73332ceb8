import { pinnedPrograms } from "../../src/config/pinned-programs.ts";
import { type Facts, type Image, settingProblems } from "./facts.ts";

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** Instructions of a Dockerfile, comments dropped and continued lines joined. */
function instructionsOf(text: string): readonly Instruction[] {
  return text
    .split("\n")
    .filter((line) => !/^\s*#/.test(line))
    .join("\n")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
      return { name: name.toUpperCase(), rest };
    });
}

function pairsOf(rest: string): readonly (readonly [string, string])[] {
  return [...rest.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)].map(([, name = "", value = ""]) => [
    name,
    value.replaceAll('"', ""),
  ]);
}

/** Image properties that the deployment files rely on. */
export function imageOf(text: string): Image {
  const { last, environment } = finalStage(instructionsOf(text));
  return {
    user: last("USER"),
    port: environment.get("PORT") ?? "",
    dataDir: last("VOLUME"),
  };
}

function finalStage(instructions: readonly Instruction[]) {
  const stage = instructions.slice(instructions.findLastIndex(({ name }) => name === "FROM"));
  const of = (name: string) => stage.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
  return {
    of,
    last: (name: string) => of(name).at(-1) ?? "",
    environment: new Map(of("ENV").flatMap(pairsOf)),
    labels: new Map(of("LABEL").flatMap(pairsOf)),
  };
}

/** The rules for the Dockerfile, and its agreement with the rest of the project. */
export function dockerfileProblems(text: string, facts: Facts): readonly string[] {
  const instructions = instructionsOf(text);
  const { of, last, environment, labels } = finalStage(instructions);
  const image = imageOf(text);
  const problems: string[] = [];
  const expect = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };

  const base = instructions.find(({ name, rest }) => name === "ARG" && rest.startsWith("NODE_IMAGE="))?.rest ?? "";
  expect(base.startsWith(`NODE_IMAGE=node:${facts.nodeVersion}-`), `${base} is not Node ${facts.nodeVersion}.`);
  expect(/-slim(@|$)/.test(base), `${base} is not slim.`);
  expect(/^[^@]+(@sha256:[0-9a-f]{64})?$/.test(base), `${base} has no digest after its @.`);
  const caddy = instructions.find(({ name, rest }) => name === "ARG" && rest.startsWith("CADDY_IMAGE="))?.rest ?? "";
  expect(
    new RegExp(`^CADDY_IMAGE=caddy:${pinnedPrograms.caddy.version}-alpine(@sha256:[0-9a-f]{64})?$`).test(caddy),
    `${caddy} is not Caddy ${pinnedPrograms.caddy.version}.`,
  );
  expect(
    of("COPY").some((rest) => rest === "--from=caddy /usr/bin/caddy /usr/bin/caddy"),
    "Caddy is not copied from its image.",
  );
  for (const { name, rest } of instructions) {
    if (name === "FROM")
      expect(
        /^\$NODE_IMAGE( AS \w+)?$|^\$CADDY_IMAGE AS caddy$/.test(rest),
        `FROM ${rest} is not the base image NODE_IMAGE.`,
      );
    expect(name !== "ADD", `ADD ${rest}: use COPY, which never fetches or unpacks.`);
    if (name === "COPY" && !rest.startsWith("--from=")) {
      const sources = rest
        .split(/\s+/)
        .filter((word) => !word.startsWith("--"))
        .slice(0, -1);
      for (const source of sources) expect(facts.exists(source), `COPY source ${source} does not exist.`);
    }
    if (name === "RUN" && /\bnpm (?:ci|install)\b/.test(rest)) {
      expect(rest.includes("--ignore-scripts"), "npm runs scripts of packages.");
      expect(rest.includes("--omit=dev"), "npm installs packages for development.");
    }
    for (const [, full = "", version = ""] of rest.matchAll(/(@opentelemetry\/[\w-]+)@(\S+?)(?=[;\s]|$)/g)) {
      expect(version === facts.versionOf(full), `${full}@${version} is not the version that is tested.`);
    }
  }
  const [, uid = "0"] = /^(\d+):\d+$/.exec(image.user) ?? [];
  expect(uid !== "0", `USER ${image.user} must be numbers, and not root.`);
  const madeDataFolder = of("RUN").some(
    (rest) => rest.includes(`mkdir --mode=0770 ${image.dataDir}`) && rest.includes(`chown ${uid}:0 ${image.dataDir}`),
  );
  expect(image.dataDir !== "" && madeDataFolder, "USER and group 0 cannot write to the data folder.");
  expect(last("EXPOSE") === image.port && image.port !== "", "EXPOSE and PORT differ.");
  expect(/\bCMD \["sealpush-health"\]/.test(last("HEALTHCHECK")), "HEALTHCHECK must run sealpush-health.");
  for (const name of ["ca-certificates", "curl"]) {
    expect(
      of("RUN").some((rest) => new RegExp(`apt-get install [^&]*\\b${name}\\b`).test(rest)),
      `${name} is not installed.`,
    );
  }
  expect(last("STOPSIGNAL") === "SIGTERM", "STOPSIGNAL must be SIGTERM.");
  for (const name of ["ENTRYPOINT", "CMD"])
    expect(last(name).startsWith("["), `${name} must be a list: a shell gets no signals through.`);
  expect(
    labels.get("org.opencontainers.image.version") === facts.version,
    `The version label is not ${facts.version}.`,
  );
  for (const [name, value] of environment) problems.push(...settingProblems(name, value));
  return problems;
}
