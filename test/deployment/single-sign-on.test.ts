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
async function goAndReturn(visitor: DeploymentVisitor): Promise<string> {
  const person = `person-${++people}`;
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

deployment.test("a callback that comes to both processes at once signs in once", async () => {
  const visitor = new DeploymentVisitor(deployment);
  const callback = await goAndReturn(visitor);
  const left = { cookie: visitor.cookie };
  const answers = await Promise.all([deployment.visit(callback, left), deployment.visit(callback, left)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 400]);
});
