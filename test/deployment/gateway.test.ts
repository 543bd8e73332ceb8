import { ownerProofOf } from "@sealpush/age/key-check";
import { makeLinkKey } from "@sealpush/age/link-key";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AlternatingProxy } from "../support/alternating-proxy.ts";
import { bearer } from "../support/app.ts";
import { openDeployment } from "../support/deployment.ts";
import type { Owner } from "../support/owner.ts";
import { openAnswer } from "../support/sealed-content.ts";

const deployment = openDeployment({ environment: { PWP__REQUESTS__ALLOW_ANONYMOUS: "true" } });
let owner: Owner;
let gateway: AlternatingProxy;
beforeAll(async () => {
  owner = await deployment.makeUser("ada@example.com");
  gateway = await AlternatingProxy.inFrontOf([await deployment.launchBeside({ PWP_PUBLIC_GATEWAY: "true" })]);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const ask = (path: string, init: RequestInit = {}) => fetch(gateway.origin + path, { redirect: "manual", ...init });

async function open(urlToken: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await ask(`/api/v2/pushes/${urlToken}`, { headers });
  return { status: answer.status, body: await answer.json() };
}

async function create(push: object): Promise<string> {
  const made = await deployment.api("/api/v2/pushes", { body: { push }, headers: bearer(owner.apiToken) });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.url_token;
}

deployment.test("a gateway in a process of its own opens pushes, and all processes count its views", async () => {
  const urlToken = await create({ payload: "secret", expire_after_views: 3 });
  expect((await open(urlToken)).body).toMatchObject({ payload: "secret", views_remaining: 2 });
  const path = `/api/v2/pushes/${urlToken}`;
  expect((await deployment.api(path)).body).toMatchObject({ payload: "secret", views_remaining: 1 });
  expect((await open(urlToken)).body).toMatchObject({ payload: "secret", views_remaining: 0 });
  expect((await open(urlToken)).body).toMatchObject({ payload: null, expired: true });
  for (const _ of ["each", "process"]) expect((await deployment.api(path)).body.payload).toBeNull();
});

deployment.test("a retrieval at the gateway is repeated at another process with its key", async () => {
  const urlToken = await create({ payload: "secret", expire_after_views: 1 });
  const headers = { "idempotency-key": `key-${crypto.randomUUID()}` };
  expect((await open(urlToken, headers)).body.payload).toBe("secret");
  expect((await deployment.api(`/api/v2/pushes/${urlToken}`, { headers })).body.payload).toBe("secret");
  expect((await open(urlToken)).body.payload).toBeNull();
});

deployment.test("addresses of downloads from the gateway work at the other processes, and the reverse", async () => {
  const files = [{ filename: "a.txt", data: btoa("a file") }];
  const urlToken = await create({ kind: "file", files, expire_after_views: 5 });
  const [atGateway] = (await open(urlToken)).body.files;
  const [elsewhere] = (await deployment.api(`/api/v2/pushes/${urlToken}`)).body.files;
  for (const _ of ["each", "process"]) {
    expect(await (await deployment.fetch(deployment.pathOf(atGateway.url))).text()).toBe("a file");
  }
  expect(await (await ask(deployment.pathOf(elsewhere.url))).text()).toBe("a file");
});

let clients = 0;
deployment.test("wrong passphrases at the gateway and elsewhere are counted together", async () => {
  const urlToken = await create({ payload: "secret", passphrase: "right", expire_after_views: 5 });
  const client = `192.0.2.${++clients}`;
  const guess = (passphrase: string) => ({ "x-forwarded-for": client, "x-push-passphrase": passphrase });
  for (let tried = 0; tried < 2; tried += 1) {
    expect((await open(urlToken, guess("wrong"))).status).toBe(401);
    const elsewhere = await deployment.api(`/api/v2/pushes/${urlToken}`, { headers: guess("wrong") });
    expect(elsewhere.status).toBe(401);
  }
  expect((await open(urlToken, guess("wrong"))).status).toBe(401);
  expect((await open(urlToken, guess("right"))).status).toBe(429);
  expect((await deployment.api(`/api/v2/pushes/${urlToken}`, { headers: guess("right") })).status).toBe(429);
});

deployment.test("an answer that the gateway takes is opened at the other processes", async () => {
  const key = await makeLinkKey();
  const request = {
    title: "Root password",
    recipient: key.recipient,
    encryption_check: key.check,
    owner_proof: await ownerProofOf(key.identity),
  };
  const made = await deployment.api("/api/sealpush/requests", { body: { request } });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const path = `/api/sealpush/requests/${made.body.url_token}`;
  const headers = { "x-request-proof": request.owner_proof };
  const body = JSON.stringify({ payload: "hunter2" });
  const sent = await ask(path, { method: "POST", body, headers: { "content-type": "application/json" } });
  expect(sent.status).toBe(201);
  const [{ url_token: answer }] = (await deployment.api(`${path}/answers`, { headers })).body.pushes;
  const { payload } = (await deployment.api(`/api/v2/pushes/${answer}`, { headers })).body;
  expect((await openAnswer(payload, key.identity, made.body.url_token)).text).toBe("hunter2");
});

test("the gateway creates nothing and knows no sessions", async () => {
  const headers = { ...bearer(owner.apiToken), "content-type": "application/json" };
  const body = JSON.stringify({ push: { payload: "secret" } });
  expect((await ask("/api/v2/pushes", { method: "POST", body, headers })).status).toBe(404);
  expect((await ask("/users/token", { headers: { cookie: owner.cookie } })).status).toBe(404);
});
