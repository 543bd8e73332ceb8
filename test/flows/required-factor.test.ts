import { describe, expect, test } from "vitest";
import { operations as requestOperations } from "../../src/api/requests/operations.ts";
import { operations } from "../../src/api/v2/operations.ts";
import { en } from "../../src/i18n/i18n.ts";
import { password } from "../support/app.ts";
import { isIn, openFixture, setUpApp, tokenOf } from "../support/factor-pages.ts";
import { startMailSink } from "../support/mail-sink.ts";

const { factors } = en;
/** A redirect would lose what was typed in these forms. */
const keepTyped = [
  "/p",
  "/p/:token/edit",
  "/requests",
  "/admin/look/name",
  "/admin/look/accent",
  "/admin/look/style",
  "/admin/rules",
  "/admin/groups/:id/rules",
  "/admin/groups/else/rules",
];

describe("PWP__REQUIRE_MFA", () => {
  const required = { environment: { PWP__REQUIRE_MFA: "true" } };

  test("redirects users without a factor to the set-up from every page, and allows nothing else", async () => {
    const fixture = await openFixture(required);
    const visitor = await fixture.signIn();
    await fixture.app.app.domain.accounts.createUser({ email: "root@example.com", password, admin: true });
    const administrator = await fixture.signIn("root@example.com");
    for (const { method, pattern, access } of fixture.app.app.routes) {
      if (method === "HEAD" || pattern.startsWith("/users/factors") || pattern === "/users/sign_out") continue;
      if (!["page_session", "page_admin", "page_creator", "page_requester"].includes(access)) continue;
      // For other users, these pages do not exist.
      const asking = access === "page_admin" ? administrator : visitor;
      const answer = await asking.ask(method, pattern.replace(/:[a-z_]+/g, "1"));
      if (method === "POST" && keepTyped.includes(pattern)) {
        expect([method, pattern, answer.statusCode]).toEqual([method, pattern, 403]);
        for (const text of [en.failure.factorText, en.failure.goBack, 'href="/users/factors"'])
          expect(answer.body).toContain(text);
        continue;
      }
      expect([method, pattern, answer.statusCode, answer.headers.location]).toEqual([
        method,
        pattern,
        303,
        "/users/factors",
      ]);
    }
    expect((await visitor.get("/users/factors")).body).toContain(factors.manage.required);
    const typed = await visitor.post("/users/token", { name: "a program" });
    expect(typed.statusCode).toBe(403);
    for (const text of [en.failure.factorText, en.failure.reload, 'href="/users/factors"'])
      expect(typed.body).toContain(text);
  });

  test("allows access once they have one, and refuses to remove the last one", async () => {
    const fixture = await openFixture(required);
    const visitor = await fixture.signIn();
    const { answer } = await setUpApp(fixture, visitor);
    expect(answer.body).toContain('href="/"');
    expect(await isIn(visitor)).toBe(true);
    const removed = await visitor.post("/users/factors/authenticator_app/remove", { proof: password });
    expect(removed.statusCode).toBe(422);
    expect(removed.body).toContain(factors.manage.lastRequired);
  });

  test("answers 403 to API calls of users without a factor", async () => {
    const fixture = await openFixture(required);
    const call = () =>
      fixture.app.server.inject({
        url: "/api/v2/pushes/active",
        headers: { authorization: `Bearer ${fixture.adasToken}` },
      });
    const refused = await call();
    expect([refused.statusCode, Object.keys(refused.json())]).toEqual([403, ["error"]]);
    await setUpApp(fixture, await fixture.signIn());
    expect((await call()).statusCode).toBe(200);
  });

  test("does so for every operation that uses a token, and the API description documents it", async () => {
    const sink = await startMailSink();
    // With email: without it, the route that mails links does not exist.
    const fixture = await openFixture({ environment: { ...required.environment, ...sink.environment } });
    for (const { method, path, access, body, answers } of [...operations, ...requestOperations]) {
      if (access === "public") continue;
      const answer = await fixture.app.server.inject({
        method,
        url: path.replace(":url_token", "a".repeat(26)),
        headers: { authorization: `Bearer ${fixture.adasToken}` },
        ...(body === "push" && { payload: { push: { payload: "x" } } }),
      });
      expect([method, path, answer.statusCode, 403 in answers]).toEqual([method, path, 403, true]);
    }
  });

  test("lets users without a factor sign out", async () => {
    const fixture = await openFixture(required);
    const visitor = await fixture.signIn();
    const token = tokenOf(visitor);
    await visitor.post("/users/sign_out");
    expect(await fixture.app.app.domain.accounts.authenticateSession(token)).toBeUndefined();
  });
});
