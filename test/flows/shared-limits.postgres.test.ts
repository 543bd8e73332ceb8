import { expect, onTestFinished, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { pollHeader } from "../../src/base/poll-header.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { makeDataDir, TestClock } from "../support/domain.ts";
import { visit } from "../support/form-requests.ts";

const ada = "ada@example.com";

/** Two servers on one database, as two processes of one instance, used alternately. */
async function startTwo(environment: Readonly<Record<string, string>> = {}) {
  const [dataDir, clock] = [makeDataDir(), new TestClock()];
  const fixtures: TestApp[] = [];
  for (let at = 0; at < 2; at += 1) {
    const fixture = await startTestApp({ dataDir, clock, environment });
    onTestFinished(() => fixture[Symbol.asyncDispose]());
    fixtures.push(fixture);
  }
  let asked = 0;
  const next = (): TestApp => {
    const fixture = fixtures[asked % fixtures.length];
    asked += 1;
    if (fixture === undefined) throw new Error("No server is running.");
    return fixture;
  };
  return { clock, next };
}

async function open(fixture: TestApp, urlToken: string, passphrase: string, remoteAddress = "192.0.2.7") {
  const url = `/api/v2/pushes/${urlToken}?passphrase=${passphrase}`;
  return (await fixture.server.inject({ url, remoteAddress })).statusCode;
}

async function createWithPassphrase(fixture: TestApp): Promise<string> {
  const payload = { push: { payload: "secret", passphrase: "right", expire_after_views: 20 } };
  const made = await fixture.server.inject({ method: "POST", url: "/api/v2/pushes", payload });
  expect(made.statusCode).toBe(201);
  return made.json().url_token;
}

test("the sixth wrong passphrase in a minute is not checked by any process", async () => {
  const { clock, next } = await startTwo();
  const urlToken = await createWithPassphrase(next());
  for (let guess = 0; guess < 5; guess += 1) expect(await open(next(), urlToken, `wrong${guess}`)).toBe(401);
  for (const passphrase of ["wrong", "wrong", "right", "right"]) {
    expect(await open(next(), urlToken, passphrase)).toBe(429);
  }
  expect(await open(next(), urlToken, "right", "198.51.100.9")).toBe(200);
  clock.advance(minuteMs);
  expect(await open(next(), urlToken, "right")).toBe(200);
});

test("guessing passphrases at both processes at once allows no extra attempts", async () => {
  const { next } = await startTwo();
  const urlToken = await createWithPassphrase(next());
  const guesses = Array.from({ length: 20 }, (_, guess) => open(next(), urlToken, `wrong${guess}`));
  const answers = await Promise.all(guesses);
  expect(answers.filter((status) => status === 401)).toHaveLength(5);
  expect(answers.filter((status) => status === 429)).toHaveLength(15);
});

test("a correct passphrase uses up no attempt at either process", async () => {
  const { next } = await startTwo();
  const urlToken = await createWithPassphrase(next());
  for (let guess = 0; guess < 4; guess += 1) await open(next(), urlToken, "wrong");
  for (let opening = 0; opening < 6; opening += 1) expect(await open(next(), urlToken, "right")).toBe(200);
  expect(await open(next(), urlToken, "wrong")).toBe(401);
  expect(await open(next(), urlToken, "right")).toBe(429);
});

test("wrong passphrases at many pushes and both processes cause no more than 40 password hashes a minute", async () => {
  const { clock, next } = await startTwo();
  const tokens = await Promise.all(Array.from({ length: 50 }, () => createWithPassphrase(next())));
  const statuses = await Promise.all(tokens.map((urlToken) => open(next(), urlToken, "wrong")));
  expect(statuses.filter((status) => status === 401)).toHaveLength(40);
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  const [urlToken = ""] = tokens;
  expect([await open(next(), urlToken, "right"), await open(next(), urlToken, "right")]).toEqual([429, 429]);
  expect(await open(next(), urlToken, "right", "198.51.100.9")).toBe(200);
  clock.advance(minuteMs);
  expect([await open(next(), urlToken, "right"), await open(next(), urlToken, "right")]).toEqual([200, 200]);
});

test("after ten wrong passwords both processes refuse; a correct password does not count", async () => {
  const { clock, next } = await startTwo();
  await next().app.domain.accounts.createUser({ email: ada, password, admin: false });
  const signIn = async (typed: string) =>
    (await visit(next(), "/users/sign_in", { email: ada, password: typed })).status;
  for (let entry = 0; entry < 3; entry += 1) expect(await signIn(password)).toBe(303);
  const guesses = await Promise.all(Array.from({ length: 16 }, (_, guess) => signIn(`wrong guess ${guess}`)));
  expect(guesses.filter((status) => status === 401)).toHaveLength(10);
  expect([await signIn(password), await signIn(password)]).toEqual([429, 429]);
  clock.advance(10 * minuteMs);
  expect([await signIn(password), await signIn(password)]).toEqual([303, 303]);
});

test("requests of one client to both processes are counted together, and the error page has Retry-After", async () => {
  const { clock, next } = await startTwo({ PWP__THROTTLING__MINUTE: "10" });
  const ask = (remoteAddress = "192.0.2.7") => next().server.inject({ url: "/", remoteAddress });
  const statuses: number[] = [];
  for (let request = 0; request < 14; request += 1) statuses.push((await ask()).statusCode);
  expect(statuses.map((status) => status === 429)).toEqual([...Array(10).fill(false), ...Array(4).fill(true)]);
  expect(Number((await ask()).headers["retry-after"])).toBe(60);
  expect((await ask("198.51.100.9")).statusCode).toBe(200);
  expect((await next().server.inject({ url: "/up", remoteAddress: "192.0.2.7" })).statusCode).toBe(200);
  clock.advance(minuteMs);
  expect((await ask()).statusCode).toBe(200);
});

test("what open pages ask of both processes uses at most half of the requests of a client", async () => {
  const { next } = await startTwo({ PWP__THROTTLING__MINUTE: "10" });
  const ask = async (headers = {}) =>
    (await next().server.inject({ url: "/", remoteAddress: "192.0.2.7", headers })).statusCode;
  const statuses: number[] = [];
  for (let poll = 0; poll < 8; poll += 1) statuses.push(await ask({ [pollHeader]: "1" }));
  for (let request = 0; request < 6; request += 1) statuses.push(await ask());
  const refused = (count: number) => Array(count).fill(429);
  expect(statuses).toEqual([...Array(5).fill(200), ...refused(3), ...Array(5).fill(200), ...refused(1)]);
});

test("counts of limits are deleted after their period", async () => {
  const { clock, next } = await startTwo();
  const urlToken = await createWithPassphrase(next());
  await open(next(), urlToken, "wrong");
  const { limits } = next().app.domain;
  expect(await limits.removeExpired(clock.now(), 100)).toBe(0);
  clock.advance(60 * minuteMs);
  // Counters of the client's hashes, of its guesses, of clients that have guessed before, and of all first guesses.
  expect(await limits.removeExpired(clock.now(), 100)).toBe(4);
});
