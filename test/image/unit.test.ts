import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pinnedPrograms } from "../../src/config/pinned-programs.ts";
import { realNode } from "./setup.ts";
import { lab } from "./shared.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = join(lab.folder, "files/systemd");
const name = "systemd";
const shell = async (script: string) => await lab.try("exec", name, "bash", "-c", script);

/** A machine with systemd, and the program where the guide installs it. */
beforeAll(async () => {
  mkdirSync(folder);
  writeFileSync(
    join(folder, "Dockerfile"),
    [
      `FROM docker.io/library/node:${pinnedPrograms.node.version}-bookworm-slim`,
      "RUN apt-get update && apt-get install -y --no-install-recommends systemd systemd-sysv dbus curl procps",
      "STOPSIGNAL SIGRTMIN+3",
      'CMD ["/lib/systemd/systemd"]',
      "",
    ].join("\n"),
  );
  lab.build({ tag: "localhost/systemd", file: join(folder, "Dockerfile"), context: folder });
  const program = join(folder, "sealpush");
  for (const path of ["package.json", "dist", "node_modules", "packages", "deploy", "src/node-version.js", "scripts"]) {
    cpSync(join(root, path), join(program, path), { recursive: true, verbatimSymlinks: true });
  }
  // The stand-in of what install-node installs, which has a test of its own.
  mkdirSync(join(program, "node/bin"), { recursive: true });
  cpSync(realNode(), join(program, "node/bin/node"));
  await lab.podman(
    ...["run", "--detach", "--name", name, "--privileged", "--systemd=always", "--no-healthcheck"],
    ...[`--volume=${program}:/opt/sealpush`, "localhost/systemd"],
  );
  await until("systemctl is-system-running | grep -E 'running|degraded'");
  const installed = await shell(
    [
      "set -e; cd /opt/sealpush; install -d -m 0700 /etc/sealpush",
      "(umask 077 && node/bin/node dist/main.js keys generate > /etc/sealpush/master.key)",
      "cp deploy/systemd/sealpush.service /etc/systemd/system/; cp deploy/systemd/sealpush /usr/local/sbin/",
      // Credentials do not arrive in a container, whatever the unit: the key is the generated one here.
      "mkdir /etc/systemd/system/sealpush.service.d",
      "printf '[Service]\\nLoadCredential=\\nUnsetEnvironment=PWPUSH_MASTER_KEY_FILE\\n' > /etc/systemd/system/sealpush.service.d/here.conf",
      "systemctl daemon-reload; systemctl enable --now sealpush",
    ].join("\n"),
  );
  expect(installed).toMatchObject({ status: 0 });
});

afterAll(async () => {
  await lab.remove([name]);
  rmSync(folder, { recursive: true, force: true });
});

/** Waits until a command of the machine succeeds. */
async function until(script: string): Promise<void> {
  while ((await shell(script)).status !== 0) await new Promise((resolve_) => setTimeout(resolve_, 300));
}

it("is sound, and starts the server", async () => {
  expect(await shell("systemd-analyze verify --man=no sealpush.service")).toMatchObject({ status: 0 });
  await until("curl --silent --fail localhost:5100/up");
});

it("has a timer whose service writes a backup beside the running server", async () => {
  const installed = await shell(
    [
      "set -e; cd /etc/systemd/system; cp /opt/sealpush/deploy/systemd/sealpush-backup.{service,timer} .",
      "cp -r sealpush.service.d sealpush-backup.service.d; systemctl daemon-reload",
      "systemd-analyze verify --man=no sealpush-backup.service sealpush-backup.timer",
      "systemctl enable --now sealpush-backup.timer; systemctl list-timers --all | grep sealpush-backup.service",
    ].join("\n"),
  );
  expect(installed).toMatchObject({ status: 0 });
  expect(await shell("systemctl start sealpush-backup.service")).toMatchObject({ status: 0 });
  const backups = "/var/lib/private/sealpush-backup";
  const [file = "", ...others] = (await shell(`ls ${backups}`)).output.trim().split("\n");
  expect([file, others]).toEqual([expect.stringMatching(/^20[\d-]+\.tar$/), []]);
  const verify = `cd /opt/sealpush && node/bin/node dist/main.js backup verify --from ${backups}/${file}`;
  expect(await shell(verify)).toMatchObject({ status: 0 });
});

it("ends in order and starts again after a signal that it does not expect", async () => {
  await until("curl --silent --fail localhost:5100/up");
  await shell("systemctl kill --signal=SIGHUP sealpush");
  await until("test $(systemctl show --property=NRestarts --value sealpush) -ge 1");
  await until("curl --silent --fail localhost:5100/up");
  await shell("systemctl stop sealpush");
  expect((await shell("systemctl show --property=Result --value sealpush")).output.trim()).toBe("success");
});

it("does not start again and again with settings that are refused", async () => {
  await shell("echo PORT=none > /etc/sealpush/settings.env; systemctl reset-failed sealpush");
  await shell("systemctl start sealpush");
  await until("systemctl is-failed sealpush");
  const state = await shell("systemctl show --property=ExecMainStatus,NRestarts sealpush");
  expect(state.output).toMatch(/NRestarts=0/);
  expect(state.output).toMatch(/ExecMainStatus=2/);
});

it("runs several processes as instances of a template", async () => {
  const started = await shell(
    [
      "set -e; rm -f /etc/sealpush/settings.env; systemctl stop sealpush; cd /etc/systemd/system",
      "cp /opt/sealpush/deploy/systemd/sealpush@.service . && cp -r sealpush.service.d sealpush@.service.d",
      "systemctl daemon-reload && systemd-analyze verify --man=no sealpush@5101.service",
      "systemctl enable --now sealpush@5101 sealpush@5102",
    ].join("\n"),
  );
  expect(started).toMatchObject({ status: 0 });
  for (const port of [5101, 5102]) await until(`curl --silent --fail localhost:${port}/up`);
  await shell("systemctl restart sealpush@5101");
  await until("curl --silent --fail localhost:5102/up && curl --silent --fail localhost:5101/up");
  // Its data, as the user of the running instances.
  expect((await shell("ls /var/lib/private/sealpush")).output).toContain("sealpush.sqlite3");
});
