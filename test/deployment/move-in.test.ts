import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openDeployment } from "../support/deployment.ts";
import { signInAt } from "../support/owner-requests.ts";
import { composeEnvironment } from "../support/password-pusher/compose.ts";
import { expected } from "../support/password-pusher/expected.ts";
import { installProduction } from "../support/password-pusher/installations.ts";
import { addManyPushes, manyTokenOf } from "../support/password-pusher/many-pushes.ts";

const payload = "correct-horse-battery-staple";

/** One volume, as both processes have to find the same master key and files. */
const deployment = openDeployment({
  files: "folder",
  async prepare({ DATABASE_URL = "", DATA_DIR = "" }) {
    const { storageFolder } = installProduction(
      (connection) => addManyPushes(connection, 40),
      join(dirname(DATA_DIR), "old"),
    );
    return {
      ...composeEnvironment,
      SEALPUSH_MOVE_IN: "yes",
      SEALPUSH_DATABASE_URL: DATABASE_URL,
      DATABASE_URL: "",
      DATA_DIR: join(storageFolder, "sealpush"),
    };
  },
});

const open = (number: number, headers = {}) => deployment.api(`/api/v2/pushes/${manyTokenOf(number)}`, { headers });

let next = 1;
deployment.test("an imported push is opened by both as often as is left", async () => {
  // One of the five views was used before.
  for (const left of [3, 2, 1, 0]) {
    expect((await open(next)).body).toMatchObject({ payload, views_remaining: left });
  }
  for (const _ of ["each", "process"]) expect((await open(next)).body).toMatchObject({ payload: null, expired: true });
  next += 1;
});

test("an imported passphrase is asked for at both", async () => {
  for (const _ of ["each", "process"]) {
    expect((await open(10)).status).toBe(401);
    await open(11);
    expect((await open(10, { "x-push-passphrase": "open sesame" })).body).toMatchObject({ payload });
  }
});

deployment.test("imported users sign in at one process and are known to the other", async () => {
  const [admin] = expected.production.users;
  const cookie = await signInAt(deployment.origin, admin?.email ?? "", admin?.password ?? "");
  for (const path of ["/p", "/p?state=expired", "/p"]) {
    expect((await deployment.visit(path, { cookie })).status).toBe(200);
  }
});
