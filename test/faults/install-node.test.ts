import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { pinnedPrograms } from "../../src/config/pinned-programs.ts";
import { makeFolder } from "../support/folders.ts";

const gpg = process.env.SEALPUSH_TEST_GPG;
const root = resolve(import.meta.dirname, "../..");
const { version } = pinnedPrograms.node;
const archive = `node-v${version}-linux-${process.arch}.tar.xz`;

/** A local copy of nodejs.org that has one archive, and a key that signs its list of checksums. */
function prepare() {
  const folder = makeFolder();
  const checkout = join(folder, "checkout");
  for (const path of ["deploy/systemd", "src/config/pinned-programs.ts"]) {
    cpSync(join(root, path), join(checkout, path), { recursive: true });
  }
  const published = join(folder, "mirror", `v${version}`);
  const content = join(folder, archive.replace(".tar.xz", ""));
  mkdirSync(join(content, "bin"), { recursive: true });
  mkdirSync(published, { recursive: true });
  writeFileSync(join(content, "bin/node"), `#!/bin/sh\necho v${version}\n`);
  chmodSync(join(content, "bin/node"), 0o755);
  execFileSync("tar", [
    "--create",
    "--xz",
    "--file",
    join(published, archive),
    "--directory",
    folder,
    join(archive.replace(".tar.xz", "")),
  ]);
  const home = join(folder, "gpg");
  mkdirSync(home, { mode: 0o700 });
  const sign = (...parameters: readonly string[]) =>
    execFileSync(
      gpg ?? "",
      ["--homedir", home, "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", ...parameters],
      {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
  sign("--quick-generate-key", "releaser@example.com", "ed25519", "sign", "never");
  const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(sign("--with-colons", "--list-keys"))?.[1] ?? "";
  const keyring = join(folder, "keyring.gpg");
  sign("--output", keyring, "--export");
  const keys = join(folder, "keys");
  writeFileSync(keys, `${fingerprint}\n`);
  const list = join(published, "SHASUMS256.txt");
  const digest = createHash("sha256")
    .update(readFileSync(join(published, archive)))
    .digest("hex");
  writeFileSync(list, `${"0".repeat(64)}  node-v${version}.tar.xz\n${digest}  ${archive}\n`);
  sign("--clearsign", "--output", `${list}.asc`, list);
  execFileSync("gpgconf", ["--homedir", home, "--kill", "all"]);
  return { checkout, published, keyring, keys, fingerprint };
}

type Prepared = ReturnType<typeof prepare>;

function install({ checkout, published, keyring, keys }: Prepared, more: NodeJS.ProcessEnv = {}) {
  return spawnSync(join(checkout, "deploy/systemd/install-node"), {
    env: {
      PATH: process.env.PATH,
      NODE_MIRROR: `file://${resolve(published, "..")}`,
      NODE_KEYRING: keyring,
      NODE_KEYS: keys,
      ...more,
    },
    encoding: "utf8",
  });
}

describe.runIf(gpg !== undefined)("install-node", () => {
  it("installs what a known key has signed, also in the place of an earlier Node, and leaves nothing else", () => {
    const prepared = prepare();
    for (let time = 0; time < 2; time += 1) {
      const { status, stdout, stderr } = install(prepared);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toContain(`Node ${version}, signed with ${prepared.fingerprint}`);
    }
    expect(readdirSync(prepared.checkout).toSorted()).toEqual(["deploy", "node", "src"]);
    expect(existsSync(join(prepared.checkout, "node/bin/node"))).toBe(true);
  });

  it.each<[string, (prepared: Prepared) => NodeJS.ProcessEnv | undefined, RegExp]>([
    [
      "a changed archive",
      ({ published }) => {
        appendFileSync(join(published, archive), "x");
        return undefined;
      },
      /does not have the signed checksum/,
    ],
    [
      "a changed list",
      ({ published }) => {
        const list = join(published, "SHASUMS256.txt.asc");
        writeFileSync(list, readFileSync(list, "utf8").replace("000", "111"));
        return undefined;
      },
      /signature of SHASUMS256\.txt is not valid/,
    ],
    [
      "a list without a signature",
      ({ published }) => {
        cpSync(join(published, "SHASUMS256.txt"), join(published, "SHASUMS256.txt.asc"));
        return undefined;
      },
      /signature of SHASUMS256\.txt is not valid/,
    ],
    ["a key that is not a releaser's", () => ({ NODE_KEYS: "/dev/null" }), /which is not among Node's releasers/],
    [
      "text that was added around the signed list",
      ({ published }) => {
        const list = join(published, "SHASUMS256.txt.asc");
        appendFileSync(join(published, archive), "x");
        const digest = createHash("sha256")
          .update(readFileSync(join(published, archive)))
          .digest("hex");
        writeFileSync(list, `${digest}  ${archive}\n${readFileSync(list, "utf8")}`);
        return undefined;
      },
      /does not have the signed checksum/,
    ],
    ["a mirror without the version", () => ({ NODE_MIRROR: "file:///nowhere" }), /cannot be fetched/],
  ])("refuses %s, and installs nothing", (_what, change, reason) => {
    const prepared = prepare();
    const { status, stderr } = install(prepared, change(prepared));
    expect(status).toBe(1);
    expect(stderr).toMatch(reason);
    expect(readdirSync(prepared.checkout).toSorted()).toEqual(["deploy", "src"]);
  });
});
