import { appendFileSync, chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder } from "./folders.ts";
import { program } from "./run/program.ts";

const root = resolve(import.meta.dirname, "../..");

/** The image's entry point with the program of this repository and with folders of the test in place of the image's volumes. */
export interface EntryPoint {
  /** The command that starts it; arguments follow. */
  readonly command: readonly [string, ...string[]];
  /** The script of the image's health check. */
  readonly health: string;
  /** In place of /data. */
  readonly volume: string;
  /** In place of /opt/PasswordPusher/storage. */
  readonly oldVolume: string;
  /** Names the mount of one of these paths, in the list that the script gives to the server. Until then, nothing is mounted. */
  mount(path: string, volume: string): void;
}

/** @throws if the script has changed, because a test would then use the folders of this machine. */
export function makeEntryPoint(): EntryPoint {
  const folder = makeFolder();
  // Tests start it as another user.
  chmodSync(folder, 0o755);
  const volume = join(folder, "data");
  const oldVolume = join(folder, "opt/PasswordPusher/storage");
  const mounts = join(folder, "mountinfo");
  writeFileSync(mounts, "");
  const paths = {
    "main=/app/dist/main.js": `main=${program}`,
    "caddyfile=/app/Caddyfile": `caddyfile=${root}/deploy/container/Caddyfile`,
    "volume=/data": `volume=${volume}`,
    "old_volume=/opt/PasswordPusher/storage": `old_volume=${oldVolume}`,
    "mounts=/proc/self/mountinfo": `mounts=${mounts}`,
  };
  let script = readFileSync(join(root, "deploy/container/sealpush"), "utf8");
  for (const [shipped, ofTest] of Object.entries(paths)) {
    if (!script.includes(`\n${shipped}\n`)) throw new Error(`The entry point has no line ${shipped}.`);
    script = script.replace(`\n${shipped}\n`, `\n${ofTest}\n`);
  }
  const path = join(folder, "sealpush");
  writeFileSync(path, script, { mode: 0o755 });
  const mount = (at: string, name: string) =>
    appendFileSync(mounts, `590 580 8:1 /var/lib/docker/volumes/${name}/_data ${at} rw,relatime - ext4 /dev/sda1 rw\n`);
  return { command: ["bash", path], health: join(root, "deploy/container/sealpush-health"), volume, oldVolume, mount };
}
