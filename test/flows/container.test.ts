import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, test } from "vitest";
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
  // What the health check asks: curl -f http://localhost:5100/up
  const answer = await fetch(`http://localhost:${port}/up`);
  expect([answer.status, await answer.json()]).toEqual([200, { status: "up" }]);
  const made = statSync(join(entryPoint.oldVolume, "sealpush/master.key"));
  expect({ uid: made.uid, gid: made.gid, mode: made.mode & 0o777 }).toMatchObject({ ...anyUser, mode: 0o600 });
  server.kill("SIGTERM");
  expect(await once(server, "exit")).toEqual([0, null]);
});

/** Ignores signals that it does not handle, as the first process of a container does. Only root can start it without more. */
const asFirstProcess = isRoot ? ["unshare", "--pid", "--fork", "--kill-child"] : [];

test("the image stops on a signal that comes before Node handles any", async () => {
  const entryPoint = makeEntryPoint();
  makeVolume(entryPoint.volume);
  const [command = "", ...argv] = [...asFirstProcess, ...entryPoint.command, "serve"];
  const container = spawn(command, argv, { env: { PATH: process.env.PATH, PORT: "0" } });
  onTestFinished(() => void container.kill("SIGKILL"));
  const ended = once(container, "exit");
  const childOf = (pid: number) =>
    Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ")[0]);
  const first = () => (isRoot ? childOf(container.pid ?? 0) : (container.pid ?? 0));
  // Node has replaced the shell that started it.
  const server = () => readFileSync(`/proc/${childOf(first())}/cmdline`, "latin1");
  await expect.poll(() => server().startsWith("node\0"), { interval: 1 }).toBe(true);
  process.kill(first(), "SIGTERM");
  expect(await ended).toEqual([expect.any(Number), null]);
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

describe("a container whose data would be lost with it", () => {
  const anonymous = "d1".repeat(32);

  async function refusedMoveIn(entryPoint: EntryPoint): Promise<string> {
    const refused = start(entryPoint, ["serve"], { ...composeEnvironment, SEALPUSH_MOVE_IN: "yes" });
    const lines: string[] = [];
    refused.stderr?.on("data", (chunk) => lines.push(String(chunk)));
    expect(await once(refused, "close")).toEqual([2, null]);
    return lines.join("");
  }

  it("does not move in, and prints the lines that the compose file needs", async () => {
    const entryPoint = makeEntryPoint();
    makeVolume(entryPoint.volume);
    makeVolume(entryPoint.oldVolume);
    cpSync(join(fixtureFolder, "storage"), entryPoint.oldVolume, { recursive: true });
    entryPoint.mount("/", "of-the-container");
    const ofOldVolume = new RegExp(
      `in the container itself.*\\n(?:.*\\n)*.*- sealpush-data:${entryPoint.oldVolume}/sealpush\\n`,
    );
    expect(await refusedMoveIn(entryPoint)).toMatch(ofOldVolume);
    entryPoint.mount(entryPoint.oldVolume, anonymous);
    const page = await refusedMoveIn(entryPoint);
    expect(page).toContain("in an anonymous volume");
    expect(page).toContain(`volumes:\n      - sealpush-data:${entryPoint.oldVolume}\n`);
    expect(page).toContain("Nothing was changed.");
    expect(existsSync(join(entryPoint.oldVolume, "sealpush"))).toBe(false);
  });

  it("warns at any other start", async () => {
    const entryPoint = makeEntryPoint();
    makeVolume(entryPoint.volume);
    entryPoint.mount(entryPoint.volume, anonymous);
    const server = start(entryPoint, ["serve"]);
    expect(JSON.parse(await firstLine(server, /"setting_warning"/))).toMatchObject({
      level: "warn",
      msg: `DATA_DIR (${entryPoint.volume}) is in an anonymous volume, so the database, the files and the master key will be lost when the container is replaced: mount a volume with a name at ${entryPoint.volume}.`,
    });
  });

  it("does not warn if nothing is kept there, or if the volume has a name", async () => {
    const entryPoint = makeEntryPoint();
    makeVolume(entryPoint.volume);
    entryPoint.mount(entryPoint.volume, anonymous);
    const elsewhere = {
      DATABASE_URL: "postgres://sealpush@db/sealpush",
      PWPUSH_MASTER_KEY: "11".repeat(32),
      PWP__FILES__STORAGE: "amazon",
      PWP__FILES__S3__BUCKET: "sealed-files",
      PWP__FILES__S3__ACCESS_KEY_ID: "key",
      PWP__FILES__S3__SECRET_ACCESS_KEY: "secret",
    };
    const check = async (more: object) => {
      const [shell, ...script] = entryPoint.command;
      const { stdout, stderr } = await promisify(execFile)(shell, [...script, "config", "check"], {
        env: { PATH: process.env.PATH, ...more },
      });
      return stdout + stderr;
    };
    expect(await check({})).toContain("in an anonymous volume");
    expect(await check(elsewhere)).not.toContain("in an anonymous volume");
    entryPoint.mount(entryPoint.volume, "pwpush_data");
    expect(await check({})).not.toContain("in an anonymous volume");
  });
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
