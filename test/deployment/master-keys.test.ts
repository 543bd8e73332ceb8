import { expect, test } from "vitest";
import { minuteMs, secondMs } from "../../src/base/clock.ts";
import { AlternatingProxy } from "../support/alternating-proxy.ts";
import { bearer } from "../support/app.ts";
import { openDeployment } from "../support/deployment.ts";
import { DeploymentVisitor } from "../support/deployment-visitor.ts";
import { keyEnvironment } from "../support/master-keys.ts";
import { password } from "../support/owner.ts";

const deployment = openDeployment({ environment: keyEnvironment("first") });
const views = 40;

async function create(push: object, headers = {}): Promise<string> {
  const made = await deployment.api("/api/v2/pushes", {
    body: { push: { expire_after_views: views, ...push } },
    headers,
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.url_token;
}

async function expectOpen(urlToken: string, payload: string): Promise<void> {
  for (const _ of ["each", "process"]) {
    const { status, body } = await deployment.api(`/api/v2/pushes/${urlToken}`);
    expect([status, body.payload]).toEqual([200, payload]);
  }
}

test("the master key is changed and its data are re-encrypted while both processes run", async () => {
  const { apiToken } = await deployment.makeUser("ada@example.com");
  const made: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const files = [{ filename: "a.txt", data: btoa(`file ${count}`) }];
    made.push(await create({ payload: `secret ${count}`, name: "a name", files }, bearer(apiToken)));
  }
  const expectAll = async () => {
    for (const [count, urlToken] of made.entries()) await expectOpen(urlToken, `secret ${count}`);
  };
  const both = keyEnvironment("second", "first");
  const early = await deployment.run(["keys", "rotate"], both);
  expect([early.exitCode, early.stderr]).toEqual([1, expect.stringMatching(/process/)]);
  await expectAll();

  await deployment.restart(both);
  const [rotated] = await Promise.all([deployment.run(["keys", "rotate"]), expectAll()]);
  expect(rotated.exitCode, rotated.stderr).toBe(0);
  expect(rotated.stdout).toMatch(/can be removed/);
  await expectAll();

  await deployment.restart({ ...keyEnvironment("second"), PWPUSH_MASTER_KEY_PREVIOUS: "" });
  await expectAll();
  const [newest] = (await deployment.api("/api/v2/pushes/active", { headers: bearer(apiToken) })).body;
  expect(newest).toMatchObject({ url_token: made.at(-1), name: "a name" });
  const { body } = await deployment.api(`/api/v2/pushes/${made[0]}`);
  expect(await (await deployment.fetch(deployment.pathOf(body.files[0].url))).text()).toBe("file 0");
});

test("without an interruption, the key is given to all processes before any of them seals under it", async () => {
  await deployment.restart(keyEnvironment("second", "first"));
  const kept = await create({ payload: "kept" });
  const refused = deployment.launchBeside(keyEnvironment("third", "second", "first"));
  await expect(refused).rejects.toThrow(/2 server process\(es\) without the master key \w+ run on this database/);
  // The refused start has not put the key to use: without it, processes still start.
  await (await deployment.launchBeside({})).stop();

  await deployment.restart(keyEnvironment("second", "third", "first"));
  const next = await deployment.launchBeside(keyEnvironment("third", "second", "first"));
  await using proxy = await AlternatingProxy.inFrontOf([next]);
  const made = await fetch(`${proxy.origin}/api/v2/pushes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ push: { payload: "sealed under the third", expire_after_views: views } }),
  });
  await expectOpen((await made.json()).url_token, "sealed under the third");
  await expectOpen(kept, "kept");
  await next.stop();
});

test("a process that was suspended while others put a key to use that it lacks ends when it resumes", async () => {
  await deployment.restart(keyEnvironment("third", "fourth", "second", "first"));
  const lacking = await deployment.launchBeside(keyEnvironment("third", "second", "first"));
  const running = async () =>
    (await deployment.query("SELECT 1 FROM processes WHERE seen_at > $1", [Date.now() - 31 * secondMs])).length;
  expect(await running()).toBe(3);
  process.kill(lacking.pid, "SIGSTOP");
  await expect.poll(running, { timeout: minuteMs }).toBe(2);
  const next = await deployment.launchBeside(keyEnvironment("fourth", "third", "second", "first"));
  process.kill(lacking.pid, "SIGCONT");
  expect(await lacking.ended).toEqual({ exitCode: 1, signal: null });
  expect(lacking.logLines.join("\n")).toMatch(
    /The database is sealed under the master key with id \w+, which is not among the given ones .* stops\./,
  );
  // A supervisor that has the new settings starts it again.
  await (await deployment.launchBeside(keyEnvironment("third", "fourth", "second", "first"))).stop();
  await next.stop();
  await expectOpen(await create({ payload: "still served" }), "still served");
});

test("the access secret is replaced only while no process runs, and both then ask everybody to sign in again", async () => {
  const email = "eve@example.com";
  const owner = await deployment.makeUser(email);
  const urlToken = await create({ payload: "kept" }, bearer(owner.apiToken));
  const visitor = new DeploymentVisitor(deployment);
  await visitor.visit("/users/sign_in", { email, password });
  const tokenAtBoth = async () => {
    const ask = async () => (await deployment.api("/api/v2/pushes/active", { headers: bearer(owner.apiToken) })).status;
    return [await ask(), await ask()];
  };
  const replace = () => deployment.run(["keys", "replace-access", "--yes"]);
  const refused = await replace();
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/^2 server process/)]);
  expect([await visitor.signedInAtBoth(), await tokenAtBoth()]).toEqual([
    [200, 200],
    [200, 200],
  ]);
  await deployment.restart({}, async () => {
    const replaced = await replace();
    expect(replaced.exitCode, replaced.stderr).toBe(0);
  });
  expect([await visitor.signedInAtBoth(), await tokenAtBoth()]).toEqual([
    [303, 303],
    [401, 401],
  ]);
  await expectOpen(urlToken, "kept");
  expect((await visitor.visit("/users/sign_in", { email, password })).status).toBe(303);
  expect(await visitor.signedInAtBoth()).toEqual([200, 200]);
});
