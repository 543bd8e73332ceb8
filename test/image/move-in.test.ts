import { appendFileSync, cpSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";
import { pinnedPrograms } from "../../src/config/pinned-programs.ts";
import { composeEnvironment } from "../support/password-pusher/compose.ts";
import { expected } from "../support/password-pusher/expected.ts";
import { installProduction } from "../support/password-pusher/installations.ts";
import { addManyPushes, manyTokenOf } from "../support/password-pusher/many-pushes.ts";
import { image, lab, openPush } from "./shared.ts";

const origin = "http://127.0.0.1:5100";
const memory = ["--memory=256m", "--memory-swap=256m"];
const storage = "/opt/PasswordPusher/storage";
const volume = "old-storage";
const environment = { ...composeEnvironment, SEALPUSH_MOVE_IN: "yes" };

/** Settings by which Password Pusher was configured, and the one that moves in. */
const options = (more: Readonly<Record<string, string>> = {}) =>
  Object.entries({ ...environment, ...more }).map(([name, value]) => `--env=${name}=${value}`);

afterEach(async () => {
  await lab.remove(["server", "postgres"], [volume]);
  await lab.try("network", "rm", "--force", "backend");
});

/** A volume with this folder's content, which belongs to user 1000 as Password Pusher's does. */
async function fillVolume(folder: string): Promise<void> {
  await lab.podman("volume", "create", volume);
  const copied = await lab.run(
    image,
    ["-c", "cp -r /old/. /new && chown -R 1000:1000 /new"],
    ["--user=0", "--entrypoint=bash", `--volume=${volume}:/new`, `--volume=${folder}:/old:ro`],
  );
  expect(copied).toMatchObject({ status: 0 });
}

test("the image takes the place of Password Pusher's with SQLite: volume, variables and links stay", async () => {
  const installed = installProduction((connection) => addManyPushes(connection, 40), join(lab.folder, "files/sqlite"));
  await fillVolume(installed.storageFolder);
  const run = ["--publish=127.0.0.1:5100:5100", `--volume=${volume}:${storage}`, ...memory, ...options()];
  await lab.start("server", image, run);
  await lab.logged("server", "server_started");
  await lab.healthy("server");
  expect(await openPush(origin, manyTokenOf(1))).toBe("correct-horse-battery-staple");
  const users = await lab.podman("exec", "server", "sealpush", "user", "list");
  for (const { email } of expected.production.users) expect(users).toContain(email);
  await lab.remove(["server"]);
  // The variable is still set: the next container serves what was imported and used since.
  await lab.start("server", image, run);
  await lab.healthy("server");
  const again = JSON.stringify(await openPush(origin, manyTokenOf(2)));
  expect(again).toBe('"correct-horse-battery-staple"');
});

test("… and with PostgreSQL in another container", async () => {
  const dump = join(lab.folder, "files/postgres-dump");
  mkdirSync(dump, { recursive: true });
  cpSync(resolve(import.meta.dirname, "../fixtures/password-pusher/pushes.pg.sql"), join(dump, "1.sql"));
  const since = `now() at time zone 'UTC' - timestamp '${expected.reference_time.replace("Z", "")}'`;
  // pg_dump empties the search path of its session.
  appendFileSync(
    join(dump, "2.sql"),
    `${["pushes", "users"]
      .map(
        (table) =>
          `UPDATE public.${table} SET created_at = created_at + (${since}), updated_at = updated_at + (${since});\n`,
      )
      .join("")}CREATE DATABASE sealpush;\n`,
  );
  await lab.podman("network", "create", "backend");
  await lab.podman(
    ...["run", "--detach", "--name=postgres", "--network=backend:alias=postgres"],
    ...[
      "--env=POSTGRES_PASSWORD=worthless",
      "--env=POSTGRES_DB=pwpush",
      `--volume=${dump}:/docker-entrypoint-initdb.d:ro`,
    ],
    `docker.io/library/postgres:${pinnedPrograms.postgres.version}-bookworm`,
  );
  await lab.healthy("postgres", ["pg_isready", "--host=127.0.0.1", "--username=postgres"]);
  const installed = installProduction(undefined, join(lab.folder, "files/postgres-files"));
  await fillVolume(installed.storageFolder);
  const address = "postgres://postgres:worthless@postgres";
  await lab.start("server", image, [
    ...["--network=backend", "--publish=127.0.0.1:5100:5100", `--volume=${volume}:${storage}`, ...memory],
    ...options({ DATABASE_URL: `${address}/pwpush`, SEALPUSH_DATABASE_URL: `${address}/sealpush?sslmode=disable` }),
  ]);
  await lab.logged("server", "server_started");
  await lab.healthy("server");
  const push = expected.production.pushes.find(
    ({ kind, payload, passphrase, at_reference, expire_after_days }) =>
      kind === "text" && payload !== null && passphrase === null && !at_reference.expired && expire_after_days >= 30,
  );
  expect(push).toBeDefined();
  expect(await openPush(origin, push?.url_token ?? "")).toBe(push?.payload);
});
