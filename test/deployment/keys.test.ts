import { beforeAll, expect, test } from "vitest";
import { bearer } from "../support/app.ts";
import { openDeployment } from "../support/deployment.ts";
import type { Owner } from "../support/owner.ts";

const deployment = openDeployment();
let owner: Owner;
beforeAll(async () => {
  owner = await deployment.makeUser("ada@example.com");
});

const newKey = () => `key-${crypto.randomUUID()}`;

function create(key: string, payload: string) {
  const headers = { ...bearer(owner.apiToken), "idempotency-key": key };
  return deployment.api("/api/v2/pushes", { body: { push: { payload, expire_after_views: 3 } }, headers });
}

const claim = (urlToken: string, key: string) =>
  deployment.api(`/api/v2/pushes/${urlToken}`, { headers: { "idempotency-key": key } });

deployment.test(
  "a creation that is repeated at the other process is one push, and another content is refused",
  async () => {
    const key = newKey();
    const first = await create(key, "secret");
    const again = await create(key, "secret");
    expect([first.status, again.status, again.body.url_token]).toEqual([201, 201, first.body.url_token]);
    expect(again.process).not.toBe(first.process);
    for (const _ of ["each", "process"]) expect((await create(key, "another")).status).toBe(422);
  },
);

test("twenty creations with one key at both processes at once are one push", async () => {
  const key = newKey();
  const made = await Promise.all(Array.from({ length: 20 }, () => create(key, "secret")));
  expect(new Set(made.map(({ status, body }) => `${status} ${body.url_token}`)).size).toBe(1);
});

deployment.test("a retrieval that is repeated at the other process is one view", async () => {
  const urlToken = (await create(newKey(), "secret")).body.url_token;
  const key = newKey();
  const first = await claim(urlToken, key);
  const again = await claim(urlToken, key);
  expect([first.body.payload, again.body.payload]).toEqual(["secret", "secret"]);
  expect([first.body.views_remaining, again.body.views_remaining]).toEqual([2, 2]);
  expect((await claim(urlToken, newKey())).body.views_remaining).toBe(1);
});

test("twenty retrievals of the last view with one key at both processes at once are one view", async () => {
  const urlToken = (await create(newKey(), "secret")).body.url_token;
  for (const _ of ["two", "views"]) await claim(urlToken, newKey());
  const key = newKey();
  const opened = await Promise.all(Array.from({ length: 20 }, () => claim(urlToken, key)));
  expect(opened.map(({ body }) => body.payload)).toEqual(Array(20).fill("secret"));
  for (const _ of ["each", "process"]) expect((await claim(urlToken, newKey())).body.payload).toBeNull();
});
