import { afterEach, expect, test } from "vitest";
import { type BareServer, startBareServer } from "../../../test/support/http-server.ts";
import { operations } from "../../api/v2/operations.ts";
import { registerApiHelpPage } from "./handler.ts";

let server: BareServer;
afterEach(() => server.fastify.close());

test("the page shows every endpoint, in words that need no script", async () => {
  server = startBareServer();
  registerApiHelpPage(server.fastify, {
    assetUrl: (name) => `/assets/${name}`,
    config: { accounts: { loginsDisabled: false } },
    branding: { look: () => ({ name: undefined, logo: undefined, style: undefined }) },
  });
  const answer = await server.fastify.inject({ url: "/help/api?locale=ar", headers: { host: "push.example" } });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["content-security-policy"]).toContain("script-src 'self'");
  for (const { summary, method, path } of operations) {
    expect(answer.body).toContain(summary);
    expect(answer.body).toContain(`${method} ${path.replace(/:(\w+)/, "{$1}")}`);
  }
  expect(answer.body).toContain("curl -s http://push.example/api/v2/pushes");
  expect(answer.body).toContain('<article class="api-reference" lang="en" dir="ltr">');
  expect(answer.body).not.toMatch(/ style=|<style|<script(?![^>]* src=)/);
});
