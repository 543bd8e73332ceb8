import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { pollHeader } from "../../src/base/poll-header.ts";
import { publicHost } from "../support/alternating-proxy.ts";
import { bearer } from "../support/app.ts";
import { openDeployment } from "../support/deployment.ts";
import { makeFolder } from "../support/folders.ts";
import type { Owner } from "../support/owner.ts";

const deployment = openDeployment({ environment: { PWP__CLIENT_BYTES_PER_DAY: "200000" } });
let owner: Owner;
beforeAll(async () => {
  owner = await deployment.makeUser("ada@example.com");
});

const from = (client: string) => ({ "x-forwarded-for": client });
let networks = 0;
let clients = 0;
const newClient = () => `192.0.2.${++clients}`;

async function create(push: object, headers: Readonly<Record<string, string>>) {
  return await deployment.api("/api/v2/pushes", { body: { push }, headers });
}

async function createProtected(): Promise<string> {
  const made = await create({ payload: "secret", passphrase: "right", expire_after_views: 50 }, bearer(owner.apiToken));
  expect(made.status).toBe(201);
  return made.body.url_token;
}

async function guess(urlToken: string, passphrase: string, client: string): Promise<number> {
  const headers = { ...from(client), "x-push-passphrase": passphrase };
  return (await deployment.api(`/api/v2/pushes/${urlToken}`, { headers })).status;
}

deployment.test(
  "wrong passphrases at both processes are counted together, and a stranger's lock out nobody",
  async () => {
    const [urlToken, eve] = [await createProtected(), newClient()];
    for (let tried = 0; tried < 5; tried += 1) expect(await guess(urlToken, "wrong", eve)).toBe(401);
    for (const _ of ["each", "process"]) expect(await guess(urlToken, "right", eve)).toBe(429);
    const bob = newClient();
    for (const _ of ["each", "process"]) expect(await guess(urlToken, "right", bob)).toBe(200);
  },
);

test("twenty guesses at both processes at once are five", async () => {
  const [urlToken, eve] = [await createProtected(), newClient()];
  const statuses = await Promise.all(Array.from({ length: 20 }, () => guess(urlToken, "wrong", eve)));
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(15);
});

async function failToSignIn(client: string): Promise<number> {
  const answer = await deployment.fetch("/users/sign_in", {
    method: "POST",
    body: new URLSearchParams({ email: "nobody@example.com", password: "wrong password" }),
    headers: { "sec-fetch-site": "same-origin", ...from(client) },
  });
  await answer.arrayBuffer();
  return answer.status;
}

deployment.test("failed sign-ins at both processes are counted together", async () => {
  const eve = newClient();
  const statuses: number[] = [];
  for (let tried = 0; tried < 12; tried += 1) statuses.push(await failToSignIn(eve));
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
});

deployment.test("failed sign-ins of all clients in one IPv6 /48 are counted together at both processes", async () => {
  networks += 1;
  // Each in a /56 of its own.
  const addressOf = (at: number) => `2001:db8:${networks.toString(16)}:${(at * 256).toString(16)}::1`;
  const statuses: number[] = [];
  for (let tried = 0; tried < 24; tried += 1) statuses.push(await failToSignIn(addressOf(tried)));
  expect(statuses).toEqual([...Array(20).fill(401), ...Array(4).fill(429)]);
  expect(await failToSignIn(newClient())).toBe(401);
});

test("what open pages ask of two processes gets half of the requests of a client", async () => {
  // Beside the others, whose traffic is not limited.
  const launch = (name: string) =>
    deployment.launchBeside({ PWP__THROTTLING__MINUTE: "10", DATA_DIR: join(makeFolder(), name) });
  const servers = await Promise.all(["third", "fourth"].map(launch));
  const headers = { "x-forwarded-host": publicHost, "x-forwarded-proto": "https", ...from(newClient()) };
  let asked = 0;
  const ask = async (more: Readonly<Record<string, string>> = {}) => {
    const server = servers[asked % servers.length];
    asked += 1;
    const answer = await fetch(`${server?.baseUrl}/api/v2/version`, { headers: { ...headers, ...more } });
    await answer.arrayBuffer();
    return answer.status;
  };
  const statuses: number[] = [];
  for (let poll = 0; poll < 8; poll += 1) statuses.push(await ask({ [pollHeader]: "1" }));
  for (let request = 0; request < 8; request += 1) statuses.push(await ask());
  const times = (count: number, status: number) => Array(count).fill(status);
  expect(statuses).toEqual([...times(5, 200), ...times(3, 429), ...times(5, 200), ...times(3, 429)]);
});

deployment.test("bytes of a client without an account are counted together", async () => {
  const eve = newClient();
  const statuses: number[] = [];
  for (let sent = 0; sent < 8; sent += 1) {
    statuses.push((await create({ payload: "x".repeat(50_000) }, from(eve))).status);
  }
  expect(statuses.slice(0, 2)).toEqual([201, 201]);
  // Each process may hold 64 KiB that the other one does not count.
  expect(statuses.slice(-2)).toEqual([429, 429]);
});
