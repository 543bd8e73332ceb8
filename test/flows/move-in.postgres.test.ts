import { join } from "node:path";
import { expect, test } from "vitest";
import { composeEnvironment, digestOf } from "../support/password-pusher/compose.ts";
import { installProduction } from "../support/password-pusher/installations.ts";
import { addManyPushes, manyTokenOf } from "../support/password-pusher/many-pushes.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { startServer } from "../support/server.ts";

test("a move-in into PostgreSQL leaves the old database as it was and serves its pushes", async () => {
  const installation = installProduction((connection) => addManyPushes(connection, 10));
  const before = digestOf(installation);
  const { url } = await makePostgresDatabase();
  const environment = {
    ...composeEnvironment,
    SEALPUSH_MOVE_IN: "yes",
    SEALPUSH_DATABASE_URL: url,
    DATABASE_URL: "",
  };
  const server = await startServer({ dataDir: join(installation.storageFolder, "sealpush"), environment });
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${manyTokenOf(1)}`);
  expect(await answer.json()).toMatchObject({ payload: "correct-horse-battery-staple" });
  const imports = server.logLines.filter((line) => line.includes('"event":"import_started"'));
  expect(imports).toHaveLength(1);
  expect(digestOf(installation)).toBe(before);
});
