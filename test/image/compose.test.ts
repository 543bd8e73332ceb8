import { chownSync, cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ComposeProject } from "./compose.ts";
import { ask, createPush, image, lab, openPush } from "./shared.ts";

/** The default of the file: Caddy makes the certificate itself. */
const origin = "https://localhost";
const visit = ["--insecure", "--noproxy", "*"];

/** The compose files with the three secrets that the guide makes. */
async function prepare(): Promise<string> {
  const folder = join(lab.folder, "files/compose");
  cpSync(resolve(import.meta.dirname, "../../deploy/compose"), folder, { recursive: true });
  const secrets = join(folder, "secrets");
  mkdirSync(secrets);
  const write = (name: string, content: string, user: number) => {
    writeFileSync(join(secrets, name), content, { mode: 0o400 });
    chownSync(join(secrets, name), user, user);
  };
  write("master.key", (await lab.run(image, ["keys", "generate"])).output, 1000);
  write("postgres-password", "worthless\n", 999);
  write("database-url", "postgres://sealpush:worthless@postgres/sealpush\n", 1000);
  const backups = join(folder, "backups");
  mkdirSync(backups);
  chownSync(backups, 1000, 1000);
  return folder;
}

let project: ComposeProject;
let folder: string;

beforeAll(async () => {
  folder = await prepare();
  project = new ComposeProject(lab, join(folder, "postgres.yaml"), {
    PWP__THROTTLING__MINUTE: "unlimited",
    PWP__THROTTLING__SECOND: "unlimited",
    PWP__FILES__ALLOW_ANONYMOUS: "true",
  });
  await project.up();
  await untilServed();
});
afterAll(() => project.down());

test("with postgres.yaml, both processes are replaced under load and every push opens exactly once", async () => {
  let isReplaced = false;
  const problems: string[] = [];
  let opened = 0;
  const load = (async () => {
    for (let number = 0; !isReplaced; number += 1) {
      try {
        const payload = `secret ${number}`;
        const token = await createPush(origin, payload, visit);
        if ((await openPush(origin, token, visit)) !== payload) problems.push(`${number}: does not open`);
        if ((await openPush(origin, token, visit)) !== null) problems.push(`${number}: opened twice`);
        opened += 1;
      } catch (error) {
        problems.push(`${number}: ${String(error)}`);
      }
    }
  })();
  for (const name of ["sealpush-1", "sealpush-2"]) await project.replace(name);
  isReplaced = true;
  await load;
  expect(problems).toEqual([]);
  expect(opened).toBeGreaterThan(5);
});

test("its backup has the database and the files of one time, and both can be restored", async () => {
  const file = join(folder, "file.txt");
  writeFileSync(file, "in a file");
  const { status, body } = await ask(`${origin}/api/v2/pushes`, [...visit, "--form", `push[files][]=@${file}`]);
  expect(status, body).toBe(201);
  const withFile = JSON.parse(body).url_token;
  const token = await createPush(origin, "kept", visit);
  const name = (await project.runOnce("backup", ["once"])).trim().split("/").at(-1) ?? "";
  const backup = join(folder, "backups", name);
  expect(readdirSync(backup).toSorted()).toEqual(["database.dump", "files.tar"]);
  expect(readdirSync(join(folder, "backups"))).toEqual([name]);
  expect(await openPush(origin, token, visit)).toBe("kept");
  const later = await createPush(origin, "later", visit);

  // As the guide says.
  const [postgres, one, two] = ["postgres", "sealpush-1", "sealpush-2"].map((service) => project.container(service));
  await lab.podman("stop", one ?? "", two ?? "");
  const database = async (...command: readonly string[]) => await lab.podman("exec", postgres ?? "", ...command);
  const connection = ["--username=sealpush", "--maintenance-db=template1", "sealpush"];
  await database("dropdb", ...connection);
  await database("createdb", ...connection);
  await lab.podman("cp", join(backup, "database.dump"), `${postgres}:/tmp/database.dump`);
  await database("pg_restore", "--username=sealpush", "--dbname=sealpush", "--exit-on-error", "/tmp/database.dump");
  const unpack =
    "rm -r /data/blobs && mkdir /data/blobs && tar --extract --file /backup/files.tar --directory /data/blobs";
  const volumes = [`--volume=${project.container("data")}:/data`, `--volume=${backup}:/backup:ro`];
  const unpacked = await lab.run(image, ["-c", unpack], ["--entrypoint=bash", ...volumes]);
  expect(unpacked).toMatchObject({ status: 0 });
  await lab.podman("start", one ?? "", two ?? "");
  await untilServed();

  expect(await openPush(origin, token, visit)).toBe("kept");
  expect((await ask(`${origin}/p/${later}.json`, visit)).status).toBe(404);
  const opened = await ask(`${origin}/api/v2/pushes/${withFile}`, visit);
  const [{ url }] = JSON.parse(opened.body).files;
  expect((await ask(url, visit)).body).toBe("in a file");
});

/** Caddy has no health check of its own: it answers 502 or 503 until it has found a process that is ready. */
async function untilServed(): Promise<void> {
  for (;;) {
    try {
      await createPush(origin, "first", visit);
      return;
    } catch (error) {
      const state = await lab.podman("inspect", project.container("caddy"), "--format", "{{.State.Status}}");
      if (state.trim() !== "running") throw error;
      await new Promise((resolve_) => setTimeout(resolve_, 300));
    }
  }
}
