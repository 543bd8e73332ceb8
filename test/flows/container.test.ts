import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { type EntryPoint, makeEntryPoint } from "../support/container.ts";
import { composeEnvironment } from "../support/password-pusher/compose.ts";
import { expected, fixtureFolder } from "../support/password-pusher/expected.ts";

const isRoot = process.getuid?.() === 0;
/** Platforms such as OpenShift select a user id themselves, and give it group 0. */
const anyUser = isRoot ? { uid: 4_711, gid: 0 } : {};

function start({ command: [shell, ...script] }: EntryPoint, argv: readonly string[], more: object = {}): ChildProcess {
  const env = { PATH: process.env.PATH, PORT: "0", ...more };
  const child = spawn(shell, [...script, ...argv], { env, ...anyUser });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function firstLine(child: ChildProcess, pattern: RegExp): Promise<string> {
  if (child.stdout === null) throw new Error("The output is not piped.");
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    if (pattern.test(line)) return line;
    lines.push(line);
  }
  throw new Error(`The process has ended: ${lines.join("\n")}`);
}

/** A folder that an image's build made writable for group 0, or that an operator mounts. */
function makeVolume(path: string): void {
  mkdirSync(path, { recursive: true });
  if (isRoot) chownSync(path, 0, 0);
  chmodSync(path, 0o770);
  for (let above = dirname(path); above.includes("sealpush-"); above = dirname(above)) chmodSync(above, 0o755);
}

async function dataDirOf(entryPoint: EntryPoint, more: object = {}): Promise<string | undefined> {
  const child = start(entryPoint, ["config", "check"], more);
  const [, path] = /^DATA_DIR\s*=?\s*(\S+)/.exec(await firstLine(child, /^DATA_DIR\b/)) ?? [];
  return path;
}

test("the image keeps its data in its own volume, or inside the volume of Password Pusher if that alone is mounted", async () => {
  const entryPoint = makeEntryPoint();
  const { volume, oldVolume } = entryPoint;
  makeVolume(volume);
  expect(await dataDirOf(entryPoint)).toBe(volume);
  makeVolume(oldVolume);
  expect(await dataDirOf(entryPoint)).toBe(join(oldVolume, "sealpush"));
  expect(await dataDirOf(entryPoint, { DATA_DIR: "/elsewhere" })).toBe("/elsewhere");
  writeFileSync(join(volume, "master.key"), "");
  expect(await dataDirOf(entryPoint)).toBe(volume);
});

test("the image runs as any user of group 0, and the health check of Password Pusher's compose file passes", async () => {
  const entryPoint = makeEntryPoint();
  makeVolume(entryPoint.volume);
  makeVolume(entryPoint.oldVolume);
  const server = start(entryPoint, ["serve"]);
  const { port } = JSON.parse(await firstLine(server, /"server_started"/));
  const { stdout } = await promisify(execFile)("curl", ["-f", `http://localhost:${port}/up`]);
  expect(JSON.parse(stdout)).toEqual({ status: "up" });
  const made = statSync(join(entryPoint.oldVolume, "sealpush/master.key"));
  expect({ uid: made.uid, gid: made.gid, mode: made.mode & 0o777 }).toMatchObject({ ...anyUser, mode: 0o600 });
  server.kill("SIGTERM");
  expect(await once(server, "exit")).toEqual([0, null]);
});

test("the image moves in with the volume and the environment of Password Pusher's compose file, as any user of group 0", async () => {
  const entryPoint = makeEntryPoint();
  makeVolume(entryPoint.volume);
  makeVolume(entryPoint.oldVolume);
  cpSync(join(fixtureFolder, "storage"), entryPoint.oldVolume, { recursive: true });
  const undecided = start(entryPoint, ["serve"], composeEnvironment);
  expect(await once(undecided, "exit")).toEqual([2, null]);
  const server = start(entryPoint, ["serve"], { ...composeEnvironment, SEALPUSH_MOVE_IN: "yes" });
  await firstLine(server, /"server_started"/);
  const list = start(entryPoint, ["user", "list"], { ...composeEnvironment, SEALPUSH_MOVE_IN: "yes" });
  const { email } = expected.production.users[0] ?? {};
  expect(await firstLine(list, /admin@/)).toContain(`\t${email}\t`);
});

test.each([
  ["containers/docker/worker-entrypoint.sh"],
  ["/opt/PasswordPusher/containers/docker/worker-entrypoint.sh"],
  ["bundle", "exec", "rake", "solid_queue:start"],
  ["bin/rails", "solid_queue:start"],
  ["./bin/jobs"],
])("the image idles as Password Pusher's worker: %s", async (...argv) => {
  const worker = start(makeEntryPoint(), argv);
  expect(await firstLine(worker, /./)).toMatch(/runs its background jobs itself.*can be removed/);
  worker.kill("SIGTERM");
  expect(await once(worker, "exit")).toEqual([0, null]);
});
