import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";

const urlencoded = { "content-type": "application/x-www-form-urlencoded" };
const environment = { PWP__CLIENT_BYTES_PER_DAY: "100", PWP__ACCOUNT_BYTES_PER_DAY: "200" };

test("over both APIs and the page, a client's bytes of a day are counted together and refused with 429", async () => {
  await using app = await startTestApp({ environment });
  const { server } = app;
  const post = (url: string, payload: unknown, headers = {}) =>
    server.inject({
      method: "POST",
      url,
      headers: { "content-type": "application/json", ...headers },
      payload: JSON.stringify(payload),
    });
  const payload = "x".repeat(45);
  expect((await post("/api/v2/pushes", { push: { payload } })).statusCode).toBe(201);
  expect((await post("/p.json", { password: { payload } })).statusCode).toBe(201);

  const refused = await post("/api/v2/pushes", { push: { payload } });
  expect(refused.statusCode).toBe(429);
  expect(refused.json().error).toBe("This address has used up its 100 bytes of new pushes a day. Try again later.");
  expect(refused.headers["retry-after"]).toBe("86400");
  expect((await post("/p.json", { password: { payload } })).statusCode).toBe(429);

  const page = await server.inject({
    method: "POST",
    url: "/p",
    headers: urlencoded,
    payload: "push[kind]=text&push[payload]=typed+with+great+care",
  });
  expect([page.statusCode, page.headers["retry-after"]]).toEqual([429, "86400"]);
  expect(page.body).toContain("typed with great care");
  expect(page.body).toContain("You have reached the limit of 100\u00a0bytes of new pushes a day.");

  const token = await app.makeToken("owner@example.com");
  const bearer = { authorization: `Bearer ${token}` };
  expect((await post("/api/v2/pushes", { push: { payload: "x".repeat(200) } }, bearer)).statusCode).toBe(201);
  const used = await post("/api/v2/pushes", { push: { payload } }, bearer);
  expect([used.statusCode, used.json().error]).toEqual([
    429,
    "This account has used up its 200 bytes of new pushes a day. Try again later.",
  ]);
});
