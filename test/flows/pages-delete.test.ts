import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";

test("deleting confirms once; the ended push is then answered like an unknown one", async () => {
  await using app = await startTestApp();
  const created = await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    payload: { push: { payload: "secret" } },
  });
  const press = (urlToken: string) => app.server.inject({ method: "POST", url: `/p/${urlToken}/expire` });
  const urlToken: string = created.json().url_token;
  expect((await press(urlToken)).statusCode).toBe(200);
  const again = await press(urlToken);
  const unknown = await press("never-was");
  expect(again.statusCode).toBe(404);
  expect(unknown.statusCode).toBe(404);
  expect(again.body).toBe(unknown.body);
});
