import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";
import { makeFolder } from "../support/folders.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";

test("a gateway in a process of its own opens what another process created", async () => {
  const { url } = await makePostgresDatabase();
  const environment = { DATABASE_URL: url, PWPUSH_MASTER_KEY: "5ea1".repeat(16) };
  await using complete = await startTestApp({ dataDir: makeFolder(), environment });
  await using gateway = await startTestApp({
    dataDir: makeFolder(),
    environment: { ...environment, PWP_PUBLIC_GATEWAY: "true" },
  });
  const payload = { push: { payload: "quartz" } };
  const create = { method: "POST", url: "/api/v2/pushes", payload } as const;
  expect((await gateway.server.inject(create)).statusCode).toBe(404);
  const { url_token: token } = (await complete.server.inject(create)).json();
  expect((await gateway.server.inject({ url: `/api/v2/pushes/${token}` })).json()).toMatchObject({ payload: "quartz" });
});
