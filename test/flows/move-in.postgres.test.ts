import { join } from "node:path";
import { expect, test } from "vitest";
import { composeEnvironment, digestOf } from "../support/password-pusher/compose.ts";
import { installProduction } from "../support/password-pusher/installations.ts";
import { addManyPushes, manyTokenOf } from "../support/password-pusher/many-pushes.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { startWorkers } from "../support/server.ts";

test("with several workers, the primary imports once before it starts them", async () => {
  const installation = installProduction((connection) => addManyPushes(connection, 10));
  const before = digestOf(installation);
  const { url } = await makePostgresDatabase();
  const environment = {
    ...composeEnvironment,
    SEALPUSH_MOVE_IN: "yes",
    SEALPUSH_DATABASE_URL: url,
    DATABASE_URL: "",
    WEB_CONCURRENCY: "2",
  };
  const server = await startWorkers(2, { dataDir: join(installation.storageFolder, "sealpush"), environment });
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${manyTokenOf(1)}`);
  expect(await answer.json()).toMatchObject({ payload: "correct-horse-battery-staple" });
  const imports = server.logLines.filter((line) => line.startsWith("Importing the data"));
  expect(imports).toHaveLength(1);
  expect(digestOf(installation)).toBe(before);
});
