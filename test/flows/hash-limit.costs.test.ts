import { afterEach, beforeEach, expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { visit } from "../support/form-requests.ts";
import { signInClient } from "../support/signed-in-client.ts";

const address = "192.0.2.7";
let app: TestApp;
beforeEach(async () => {
  app = await startTestApp();
});
afterEach(() => app[Symbol.asyncDispose]());

async function push(): Promise<string> {
  const payload = { push: { payload: "secret", passphrase: "right", expire_after_views: 20, retrieval_step: false } };
  const made = await app.server.inject({ method: "POST", url: "/api/v2/pushes", payload });
  return made.json().url_token;
}

const send = async (url: string, remoteAddress: string) => {
  const { statusCode: status, headers } = await app.server.inject({ url, remoteAddress });
  return { status, retryAfter: headers["retry-after"] };
};
const openWith = (urlToken: string, passphrase: string, from = address) =>
  send(`/api/v2/pushes/${urlToken}?passphrase=${passphrase}`, from);
const signIn = (email: string, typed: string, from = address) =>
  visit(app, "/users/sign_in", { email, password: typed }, { address: from });

test("wrong passwords, wrong passphrases and sign-ups of one client share 20 password hashes a minute", async () => {
  const ada = await signInClient(app, "ada@example.com", { join: true });
  const tokens = await Promise.all(Array.from({ length: 12 }, push));
  const [first = "", second = "", third = "", other = ""] = tokens;
  const doors = {
    "sign-in": () => signIn("ada@example.com", "wrong password"),
    "sign-in to an unknown account": () => signIn("nobody@example.com", "wrong password"),
    "the old password of a change": () =>
      ada.post("/users/edit/password", { current_password: "wrong", password: "marble-otter-lantern" }),
    "API v2": () => openWith(first, "wrong"),
    "API v1": () => send(`/p/${second}.json?passphrase=wrong`, address),
    "the page of a push": () => visit(app, `/p/${third}`, { passphrase: "wrong" }, { address }),
  };
  const statuses: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    for (const enter of Object.values(doors)) statuses.push((await enter()).status);
  }
  for (const email of ["new@example.com", "newer@example.com"]) {
    statuses.push((await visit(app, "/users/sign_up", { email, password }, { address })).status);
  }
  expect(statuses).toHaveLength(20);
  expect(statuses).not.toContain(429);

  for (const [door, enter] of Object.entries(doors)) expect([door, (await enter()).status]).toEqual([door, 429]);
  const newest = { email: "newest@example.com", password };
  expect(await visit(app, "/users/sign_up", newest, { address })).toMatchObject({ status: 429, retryAfter: "60" });
  expect(await openWith(first, "right")).toEqual({ status: 429, retryAfter: "60" });
  expect(await signIn("ada@example.com", password)).toMatchObject({ status: 429, retryAfter: "60" });

  const elsewhere = "198.51.100.9";
  expect((await openWith(other, "right", elsewhere)).status).toBe(200);
  expect((await signIn("ada@example.com", password, elsewhere)).status).toBe(303);
  app.clock.advance(minuteMs);
  expect((await openWith(first, "right")).status).toBe(200);
  expect((await signIn("ada@example.com", password)).status).toBe(303);
});

test.each([
  ["at six pushes", 6],
  ["at a push each", 26],
])("after 26 wrong passphrases from an address, %s, its right ones for others open them", async (_, count) => {
  const [other = "", another = "", ...guessed] = await Promise.all(Array.from({ length: count + 2 }, push));
  const statuses: number[] = [];
  for (let guess = 0; guess < 26; guess += 1) {
    statuses.push((await openWith(guessed[guess % count] ?? "", "wrong")).status);
  }
  expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(20);
  for (const urlToken of [other, another, other]) expect((await openWith(urlToken, "right")).status).toBe(200);
});

test("an office behind one address opens and signs in more than 20 times a minute, also at once", async () => {
  await app.app.domain.accounts.createUser({ email: "ada@example.com", password, admin: false });
  for (let at = 0; at < 21; at += 1) expect((await signIn("ada@example.com", password)).status).toBe(303);
  const tokens = await Promise.all(Array.from({ length: 30 }, push));
  const opened = await Promise.all(tokens.map((urlToken) => openWith(urlToken, "right")));
  expect(opened.map(({ status }) => status)).toEqual(tokens.map(() => 200));
});

test("wrong passphrases at 50 pushes at once allow no more than 40 attempts", async () => {
  const tokens = await Promise.all(Array.from({ length: 50 }, push));
  const answers = await Promise.all(tokens.map((urlToken) => openWith(urlToken, "wrong")));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(40);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
});
