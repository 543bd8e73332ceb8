import { afterEach, expect, test } from "vitest";
import { type BareServer, startBareServer } from "../../../test/support/http-server.ts";
import { v1ApiReference } from "../../api/v1/api-reference.ts";
import { operations as v1Operations } from "../../api/v1/operations.ts";
import { apiReference } from "../../api/v2/api-reference.ts";
import { operations } from "../../api/v2/operations.ts";
import { registerApiHelpPage } from "./handler.ts";

let server: BareServer;
afterEach(() => server.fastify.close());

test.each([
  ["/help/api", operations, "/api/v2/pushes"],
  ["/api", v1Operations, "/p.json"],
] as const)("%s shows every endpoint, in messages that need no script", async (url, shown, example) => {
  server = startBareServer();
  registerApiHelpPage(server.fastify, {
    apiReference: { v1: v1ApiReference(), v2: apiReference() },
    assetUrl: (name) => `/assets/${name}`,
    config: { accounts: { loginsDisabled: false }, defaultLocale: undefined },
    branding: { theme: () => ({ name: undefined, logo: undefined, style: undefined }) },
  });
  const answer = await server.fastify.inject({ url: `${url}?locale=ar`, headers: { host: "push.example" } });
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
