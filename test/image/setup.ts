import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import { pinnedPrograms } from "../../src/config/pinned-programs.ts";
import { ImageLab } from "./lab.ts";

const root = resolve(import.meta.dirname, "../..");
export const nodeImage = `docker.io/library/node:${pinnedPrograms.node.version}-bookworm-slim`;

export const caddyImage = `docker.io/library/caddy:${pinnedPrograms.caddy.version}-alpine`;

/**
 * Builds the image from the Dockerfile as it is, once for all tests of this folder. The official images cannot be had
 * everywhere: stand-ins are made of Debian's packages under their names.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const lab = ImageLab.make();
  try {
    execFileSync(process.execPath, [join(root, "scripts/build.ts")], { stdio: "pipe" });
    makeBase(lab);
    makeCaddy(lab);
    makePostgres(lab);
    lab.build({ tag: "sealpush:3.0.0", file: join(root, "Dockerfile"), context: root, mounts: npmSettings(lab) });
  } catch (error) {
    // A failure to remove what was built must not hide this one.
    console.error(error);
    await lab.close();
    throw error;
  }
  project.provide("imageLab", lab.folder);
  return () => lab.close();
}

declare module "vitest" {
  interface ProvidedContext {
    readonly imageLab: string;
  }
}

const bash = (script: string) => execFileSync("bash", ["-euo", "pipefail", "-c", script], { stdio: "pipe" });

/** Node's official slim image: Debian without recommended packages and without authorities, a user 1000, and Node. */
function makeBase(lab: ImageLab): void {
  const tree = join(lab.folder, "files/base");
  // The machine's own mirror, wherever it is.
  const mirror = /^URIs: *(\S+)/m.exec(readFileSync("/etc/apt/sources.list.d/debian.sources", "utf8"))?.[1] ?? "";
  bash(`debootstrap --variant=minbase bookworm ${tree} ${mirror}`);
  for (const folder of ["var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale"]) {
    rmSync(join(tree, folder), { recursive: true, force: true });
    mkdirSync(join(tree, folder), { recursive: true });
  }
  cpSync(realNode(), join(tree, "usr/local/bin/node"));
  chmodSync(join(tree, "usr/local/bin/node"), 0o755);
  const npm = join(tree, "usr/local/lib/node_modules/npm");
  mkdirSync(npm, { recursive: true });
  const packed = bash(`cd ${lab.folder}/files && npm pack --silent npm@11.6.2`).toString().trim();
  bash(`tar --extract --file ${lab.folder}/files/${packed} --strip-components 1 --directory ${npm}`);
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(tree, "usr/local/bin/npm"));
  symlinkSync("../lib/node_modules/npm/bin/npx-cli.js", join(tree, "usr/local/bin/npx"));
  bash(`chroot ${tree} groupadd --gid 1000 node && chroot ${tree} useradd --uid 1000 --gid node --create-home node`);
  const container = lab.buildah("from", "scratch");
  lab.buildah("add", "--quiet", container, tree, "/");
  lab.buildah("config", "--cmd", "node", container);
  lab.buildah("commit", "--quiet", container, nodeImage);
  lab.buildah("rm", container);
  rmSync(tree, { recursive: true });
}

/** The program itself: `node_modules/.bin/node` is a link to it. */
export const realNode = () =>
  execFileSync("readlink", ["--canonicalize", process.execPath], { encoding: "utf8" }).trim();

/** SEALPUSH_TEST_CADDY: a Caddy of the pinned version. Otherwise Debian's, which is older. */
function makeCaddy(lab: ImageLab): void {
  const given = process.env.SEALPUSH_TEST_CADDY ?? "";
  const program = given === "" ? "/usr/bin/caddy" : given;
  const folder = join(lab.folder, "files/caddy");
  mkdirSync(folder);
  cpSync(program, join(folder, "caddy"));
  chmodSync(join(folder, "caddy"), 0o755);
  writeFileSync(
    join(folder, "Dockerfile"),
    [
      `FROM ${nodeImage}`,
      "COPY caddy /usr/bin/caddy",
      "RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && mkdir -p /config/caddy /data/caddy /etc/caddy",
      "ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data",
      'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]',
      "",
    ].join("\n"),
  );
  lab.build({ tag: caddyImage, file: join(folder, "Dockerfile"), context: folder });
}

/** Debian's PostgreSQL under the official image's name, user and paths. */
function makePostgres(lab: ImageLab): void {
  const folder = join(lab.folder, "files/postgres");
  mkdirSync(folder);
  cpSync(join(import.meta.dirname, "postgres-entrypoint"), join(folder, "entrypoint"));
  writeFileSync(
    join(folder, "Dockerfile"),
    [
      `FROM ${nodeImage}`,
      "RUN groupadd -r postgres --gid=999 && useradd -r -g postgres --uid=999 --home-dir=/var/lib/postgresql postgres",
      "RUN apt-get update && apt-get install -y --no-install-recommends postgresql-common" +
        " && sed -ri 's/#(create_main_cluster) .*$/\\1 = false/' /etc/postgresql-common/createcluster.conf" +
        " && apt-get install -y --no-install-recommends postgresql-15",
      "RUN install -d -o postgres -g postgres -m 0700 /var/lib/postgresql/data && install -d -m 1777 /var/run/postgresql",
      "ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      // The official image has its socket where Podman 4.3 makes no folder that this user can write to.
      "ENV PGDATA=/var/lib/postgresql/data LANG=C.UTF-8 PGHOST=/tmp",
      "VOLUME /var/lib/postgresql/data",
      "COPY --chmod=0755 entrypoint /usr/local/bin/docker-entrypoint.sh",
      'ENTRYPOINT ["docker-entrypoint.sh"]',
      "STOPSIGNAL SIGINT",
      "USER 999:999",
      'CMD ["postgres"]',
      "",
    ].join("\n"),
  );
  const tag = `docker.io/library/postgres:${pinnedPrograms.postgres.version}-bookworm`;
  lab.build({ tag, file: join(folder, "Dockerfile"), context: folder });
}

/** Where npm finds packages here, and whom it trusts: mounted for the build alone, and in no layer. */
export function npmSettings(lab: ImageLab): readonly string[] {
  const npmrc = join(lab.folder, "files/npmrc");
  const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  writeFileSync(npmrc, `registry=${registry}\ncafile=/usr/local/etc/build-authorities.pem\n`);
  const authorities = "/etc/ssl/certs/ca-certificates.crt";
  return [
    `${npmrc}:/usr/local/etc/npmrc:ro`,
    ...(existsSync(authorities) ? [`${authorities}:/usr/local/etc/build-authorities.pem:ro`] : []),
  ];
}
