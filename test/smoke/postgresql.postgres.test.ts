import { expect, test } from "vitest";
import { createPush, endpoints, retrieve } from "../support/endpoints.ts";
import { newDataDir } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

test("two servers on one PostgreSQL hand a secret over once", async () => {
  const dataDir = newDataDir();
  const first = await startServer({ dataDir });
  const push = await createPush(first.baseUrl, { payload: "secret", expire_after_views: 1 });
  const second = await startServer({ dataDir });
  const answers = [first, second, first, second].map(({ baseUrl }) => retrieve(endpoints.apiV2, baseUrl, push));
  expect((await Promise.all(answers)).toSorted()).toEqual(["gone", "gone", "gone", "payload"]);
});
