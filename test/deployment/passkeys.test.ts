import { expect, test } from "vitest";
import { publicHost } from "../support/alternating-proxy.ts";
import { TestAuthenticator } from "../support/authenticator.ts";
import { openDeployment } from "../support/deployment.ts";
import { DeploymentVisitor } from "../support/deployment-visitor.ts";
import { password } from "../support/owner.ts";

const deployment = openDeployment();
let users = 0;

/** A new user with a passkey: one process makes its options, the other one stores it. */
async function addPasskey(): Promise<TestAuthenticator> {
  const email = `user-${++users}@example.com`;
  await deployment.makeUser(email);
  const visitor = new DeploymentVisitor(deployment);
  expect((await visitor.visit("/users/sign_in", { email, password })).status).toBe(303);
  const authenticator = new TestAuthenticator(`https://${publicHost}`);
  const options = await (await visitor.visit("/users/factors/passkeys/options", {})).json();
  const passkey = authenticator.create(options);
  const added = await visitor.visit("/users/factors/passkeys", { name: "laptop", passkey });
  expect(added.status, await added.text()).toBe(200);
  return authenticator;
}

const askFor = async (visitor: DeploymentVisitor, authenticator: TestAuthenticator) =>
  authenticator.get(await (await visitor.visit("/users/sign_in/passkey/options", {})).json());

deployment.test("a passkey signs in at the process that did not ask for it, and its answer once", async () => {
  const authenticator = await addPasskey();
  for (const _ of ["each", "process"]) {
    const visitor = new DeploymentVisitor(deployment);
    const passkey = await askFor(visitor, authenticator);
    expect((await visitor.visit("/users/sign_in/passkey", { passkey })).status).toBe(303);
    expect(await visitor.signedInAtBoth()).toEqual([200, 200]);
    for (const _ of ["each", "process"]) {
      const other = new DeploymentVisitor(deployment);
      expect((await other.visit("/users/sign_in/passkey", { passkey })).status).toBe(401);
      expect(await other.signedInAtBoth()).toEqual([303, 303]);
    }
    // The next one begins at the other process.
    await visitor.visit("/users/token");
  }
});

test("a passkey's answer that comes to both processes at once signs in once", async () => {
  const authenticator = await addPasskey();
  const passkey = await askFor(new DeploymentVisitor(deployment), authenticator);
  const visitors = [new DeploymentVisitor(deployment), new DeploymentVisitor(deployment)];
  const answers = await Promise.all(visitors.map((each) => each.visit("/users/sign_in/passkey", { passkey })));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 401]);
});
