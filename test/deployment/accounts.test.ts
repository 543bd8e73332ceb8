import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { processHeader } from "../support/alternating-proxy.ts";
import { bearer } from "../support/app.ts";
import { openDeployment } from "../support/deployment.ts";
import { codesIn, hidden } from "../support/factor-pages.ts";
import { appFor } from "../support/factors.ts";
import { type Owner, password } from "../support/owner.ts";
import { signInAt } from "../support/owner-requests.ts";

const deployment = openDeployment();

let users = 0;
const newEmail = () => `user-${++users}@example.com`;

async function statusOf(path: string, owner: Pick<Owner, "cookie">): Promise<number> {
  const answer = await deployment.visit(path, owner);
  await answer.arrayBuffer();
  return answer.status;
}

/** The statuses of a page that needs a session, at both processes. */
const atBoth = async (owner: Pick<Owner, "cookie">) => [
  await statusOf("/users/token", owner),
  await statusOf("/users/token", owner),
];

const tokenAtBoth = async ({ apiToken }: Owner) => {
  const ask = async () => (await deployment.api("/api/v2/pushes/active", { headers: bearer(apiToken) })).status;
  return [await ask(), await ask()];
};

deployment.test("a session is valid at both, until its user signs out at one of them", async () => {
  const owner = await deployment.makeUser(newEmail());
  expect(await atBoth(owner)).toEqual([200, 200]);
  expect((await deployment.visit("/users/sign_out", owner, {})).status).toBe(303);
  expect(await atBoth(owner)).toEqual([303, 303]);
});

deployment.test("a change of the password at one process ends the user's other sessions at both", async () => {
  const email = newEmail();
  const owner = await deployment.makeUser(email);
  const other = { cookie: await signInAt(deployment.origin, email, password) };
  const next = { current_password: password, password: "another long password" };
  expect((await deployment.visit("/users/edit/password", owner, next)).status).toBe(303);
  expect(await atBoth(other)).toEqual([303, 303]);
  await expect(signInAt(deployment.origin, email, password)).rejects.toThrow("401");
  const again = { cookie: await signInAt(deployment.origin, email, next.password) };
  expect(await atBoth(again)).toEqual([200, 200]);
});

deployment.test("a push whose sender signs out at the other process while it arrives is not created", async () => {
  const owner = await deployment.makeUser(newEmail());
  // Small bodies are not looked at again: they have to arrive within seconds.
  const body = new URLSearchParams({ "push[payload]": "x".repeat(20_000), "push[kind]": "text" }).toString();
  const headers = {
    cookie: owner.cookie,
    "sec-fetch-site": "same-origin",
    "content-type": "application/x-www-form-urlencoded",
    "content-length": String(body.length),
    [processHeader]: "0",
  };
  const sending = httpRequest(`${deployment.origin}/p`, { method: "POST", headers });
  const answered = once(sending, "response");
  sending.write(body.slice(0, -100));
  // What was sent before is admitted by then.
  for (let at = 0; at < 5; at += 1) await deployment.fetch("/api/v2/version", { headers: { [processHeader]: "0" } });
  const leaving = { cookie: owner.cookie, "sec-fetch-site": "same-origin", [processHeader]: "1" };
  expect((await deployment.fetch("/users/sign_out", { method: "POST", headers: leaving })).status).toBe(303);
  sending.end(body.slice(-100));
  const [answer] = await answered;
  expect(answer.statusCode).toBe(401);
  answer.destroy();
  expect((await deployment.api("/api/v2/pushes/active", { headers: bearer(owner.apiToken) })).body).toEqual([]);
});

deployment.test("an API token is valid at both, until an operator revokes it", async () => {
  const email = newEmail();
  const owner = await deployment.makeUser(email);
  expect(await tokenAtBoth(owner)).toEqual([200, 200]);
  const revoked = await deployment.run(["token", "revoke", "--email", email, "--name", "test"]);
  expect(revoked.exitCode, revoked.stderr).toBe(0);
  expect(await tokenAtBoth(owner)).toEqual([401, 401]);
});

test("the code that has set up an authenticator app is not accepted again, and a backup code once", async () => {
  const email = newEmail();
  const owner = await deployment.makeUser(email);
  const page = await (await deployment.visit("/users/factors/authenticator_app", owner)).text();
  const key = /<output[^>]*>([A-Z2-7 ]+)<\/output>/.exec(page)?.[1] ?? "";
  const code = appFor(key, Date.now).code();
  const fields = { set_up: hidden(page, "set_up"), code };
  const added = await deployment.visit("/users/factors/authenticator_app", owner, fields);
  const [backupCode = ""] = codesIn(await added.text());
  expect(backupCode).not.toBe("");
  /** At both processes at the same time. */
  const give = async (given: string) => {
    const waiting: Pick<Owner, "cookie">[] = [];
    for (const _ of ["one", "other"]) waiting.push({ cookie: await signInAt(deployment.origin, email, password) });
    const form = { code: given };
    const answers = await Promise.all(waiting.map((each) => deployment.visit("/users/second_factor", each, form)));
    return answers.map(({ status }) => status).sort();
  };
  expect(await give(code)).toEqual([401, 401]);
  expect(await give(backupCode)).toEqual([303, 401]);
});
