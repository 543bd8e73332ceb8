import { afterAll, beforeAll, expect } from "vitest";
import { publicHost } from "../support/alternating-proxy.ts";
import { openDeployment } from "../support/deployment.ts";
import { DeploymentVisitor } from "../support/deployment-visitor.ts";
import { startProvider } from "../support/provider.ts";
import { urlOf } from "../support/sign-on.ts";

const provider = await startProvider(`https://${publicHost}`);
afterAll(() => provider.close());
const deployment = openDeployment({ environment: provider.environment });

// Nobody gets an account at the provider before the first one was made here.
beforeAll(async () => void (await deployment.makeUser("ada@example.com")));

let people = 0;
/** Leaves for the provider and signs in there. @returns path and query of the callback, which is not requested yet. */
async function goAndReturn(visitor: DeploymentVisitor, person = `person-${++people}`): Promise<string> {
  provider.people.set(person, { email: `${person}@example.com`, email_verified: true });
  provider.answer = { login: { accountId: person } };
  const leaving = await visitor.visit("/users/auth/oidc", {});
  expect(leaving.status).toBe(200);
  return await provider.followRedirects(urlOf(await leaving.text()));
}

deployment.test("a sign-on that one process started ends at the other one, once", async () => {
  const visitor = new DeploymentVisitor(deployment);
  const callback = await goAndReturn(visitor);
  const left = { cookie: visitor.cookie };
  expect((await visitor.visit(callback)).status).toBe(303);
  expect(await visitor.signedInAtBoth()).toEqual([200, 200]);
  for (const _ of ["each", "process"]) {
    expect((await deployment.visit(callback, left)).status).toBe(400);
  }
});

deployment.test("a logout that the provider reports to one process ends the session at both", async () => {
  const visitor = new DeploymentVisitor(deployment);
  expect((await visitor.visit(await goAndReturn(visitor))).status).toBe(303);
  const iat = Math.floor(Date.now() / 1_000) + 60;
  const logout_token = await provider.logoutToken({ sub: `person-${people}`, iat });
  const answer = await deployment.visit("/users/auth/oidc/backchannel-logout", { cookie: "" }, { logout_token });
  expect(answer.status).toBe(200);
  expect(await visitor.signedInAtBoth()).toEqual([303, 303]);
});

deployment.test("a logout prevents a sign-on that was under way at the other process", async () => {
  const visitor = new DeploymentVisitor(deployment);
  expect((await visitor.visit(await goAndReturn(visitor))).status).toBe(303);
  const person = `person-${people}`;
  const again = new DeploymentVisitor(deployment);
  const callback = await goAndReturn(again, person);
  const iat = Math.floor(Date.now() / 1_000) + 60;
  const logout_token = await provider.logoutToken({ sub: person, iat });
  const path = "/users/auth/oidc/backchannel-logout";
  expect((await deployment.visit(path, { cookie: "" }, { logout_token })).status).toBe(200);
  expect((await again.visit(callback)).status).toBe(403);
});

deployment.test("a callback that comes to both processes at once signs in once", async () => {
  const visitor = new DeploymentVisitor(deployment);
  const callback = await goAndReturn(visitor);
  const left = { cookie: visitor.cookie };
  const answers = await Promise.all([deployment.visit(callback, left), deployment.visit(callback, left)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 400]);
});
