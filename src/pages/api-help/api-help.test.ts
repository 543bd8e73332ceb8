import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../../../test/support/app.ts";
import { operations as requestOperations } from "../../api/requests/operations.ts";
import { operations as v1Operations } from "../../api/v1/operations.ts";
import { operations } from "../../api/v2/operations.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

test.each([
  ["/help/api", [...operations, ...requestOperations], "/api/v2/pushes"],
  ["/api", v1Operations, "/p.json"],
] as const)("%s shows every endpoint without a script", async (url, shown, example) => {
  const answer = await app.server.inject({ url: `${url}?locale=ar`, headers: { host: "push.example" } });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["content-security-policy"]).toContain("script-src 'self'");
  for (const { summary, method, path } of shown) {
    expect(answer.body).toContain(summary);
    expect(answer.body).toContain(`${method} ${path.replace(/:(\w+)/, "{$1}")}`);
  }
  expect(answer.body).toContain(`curl -s http://push.example${example} `);
  expect(answer.body).toContain('<article class="api-reference" lang="en" dir="ltr">');
  expect(answer.body).not.toMatch(/ style=|<style|<script(?![^>]* src=)/);
});
