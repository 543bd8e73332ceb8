import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { caddyImage, nodeImage, npmSettings } from "./setup.ts";
import { createPush, lab, openPush } from "./shared.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = join(lab.folder, "files/publish");
const checkout = join(folder, "checkout");
let registry: string;
let repository: string;
let end: () => Promise<void>;

/** A home with registries that are not asked for TLS, and the way in which containers run here. */
const environment = () => ({
  ...lab.buildEnvironment,
  BUILDAH_ISOLATION: "oci",
  BUILDAH_RUNTIME: "runc",
  HOME: folder,
});
const run = (file: string, parameters: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  execFileSync(file, parameters, {
    cwd: checkout,
    env: { ...environment(), ...more },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

/** Debian's registry on loopback, with the stand-ins of the base images, and the files of this checkout as a commit. */
beforeAll(async () => {
  mkdirSync(checkout, { recursive: true });
  const port = await freePort();
  registry = `127.0.0.1:${port}`;
  repository = `${registry}/sealpush`;
  const config = {
    version: 0.1,
    storage: { filesystem: { rootdirectory: join(folder, "registry") } },
    http: { addr: registry },
  };
  writeFileSync(join(folder, "registry.json"), JSON.stringify(config));
  mkdirSync(join(folder, ".config/containers"), { recursive: true });
  writeFileSync(
    join(folder, ".config/containers/registries.conf"),
    `[[registry]]\nlocation = "${registry}"\ninsecure = true\n`,
  );
  const child = spawn("docker-registry", ["serve", join(folder, "registry.json")], { stdio: "ignore" });
  const ended = once(child, "exit");
  end = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  await untilAnswers(`http://${registry}/v2/`);
  for (const image of [nodeImage, caddyImage])
    run("buildah", ["push", image, `docker://${registry}/${basename(image)}`]);
  execFileSync(
    "bash",
    [
      "-c",
      `git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory ${checkout}`,
    ],
    { cwd: root },
  );
  run("git", ["init", "--quiet"]);
  run("git", ["add", "--all"]);
  run("git", [
    ...["-c", "user.name=test", "-c", "user.email=test@example.com"],
    "commit",
    "--quiet",
    "--message",
    "All",
  ]);
});
afterAll(() => end());

async function untilAnswers(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok === true) return;
    await new Promise((resolve_) => setTimeout(resolve_, 100));
  }
}

const publish = (platforms: string) =>
  run(
    "scripts/publish",
    [repository, "--", "--network", "host", ...npmSettings(lab).flatMap((mount) => ["--volume", mount])],
    {
      PLATFORMS: platforms,
      NODE_IMAGE: `${registry}/${basename(nodeImage)}`,
      CADDY_IMAGE: `${registry}/${basename(caddyImage)}`,
    },
  );
const raw = (reference: string) => run("skopeo", ["inspect", "--raw", `docker://${reference}`]);

it("publishes tags, digest and SBOM, and what is pulled by its digest serves", async () => {
  const published = publish("linux/amd64");
  const [, digest = ""] = /sealpush@(sha256:[0-9a-f]{64})/.exec(published) ?? [];
  expect(readFileSync(join(checkout, "release/3.0.0/published.txt"), "utf8")).toContain(digest);
  const list = raw(`${repository}@${digest}`);
  for (const tag of ["3", "3.0", "3.0.0"]) expect(raw(`${repository}:${tag}`)).toBe(list);
  const platforms = JSON.parse(list).manifests.map(
    ({ platform }: { platform: { architecture: string } }) => platform.architecture,
  );
  expect(platforms).toEqual(["amd64"]);

  const sbom = readFileSync(join(checkout, "release/3.0.0/sbom.cdx.json"), "utf8");
  const { components, metadata } = JSON.parse(sbom);
  expect(metadata.component).toMatchObject({ name: "sealpush", version: "3.0.0" });
  const names = components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(["fastify", "better-sqlite3"]));
  expect(names).not.toContain("vitest");
  run("skopeo", [
    "copy",
    "--quiet",
    `docker://${repository}:${digest.replace(":", "-")}.sbom`,
    `dir:${join(folder, "sbom")}`,
  ]);
  const files = readdirSync(join(folder, "sbom")).map((name) => readFileSync(join(folder, "sbom", name), "utf8"));
  expect(files).toContain(sbom);

  const reference = `${repository}@${digest}`;
  run("buildah", ["pull", "--quiet", reference]);
  await lab.start("published", reference, ["--publish=127.0.0.1:5100:5100"]);
  await lab.healthy("published");
  const origin = "http://127.0.0.1:5100";
  expect(await openPush(origin, await createPush(origin, "published"))).toBe("published");
  await lab.remove(["published"]);
});

it("never replaces a published version, and publishes only what is committed", () => {
  expect(() => publish("linux/amd64")).toThrow("is published already");
  writeFileSync(join(checkout, "more"), "");
  expect(() => publish("linux/amd64")).toThrow("not committed");
  expect(existsSync(join(checkout, "release/3.0.0/published.txt"))).toBe(true);
});
