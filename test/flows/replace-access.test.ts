import { expect, test } from "vitest";
import { withDatabaseOf } from "../support/database-of.ts";
import { createPush } from "../support/endpoints.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { makeOwner, type Owner, pushVersion, readVersion } from "../support/owner.ts";
import { signInAt } from "../support/owner-requests.ts";
import { newDataDir, runProgram } from "../support/processes.ts";
import { scimToken } from "../support/scim.ts";
import { startServer } from "../support/server.ts";

const replace = (dataDir: string, ...more: readonly string[]) =>
  runProgram(["keys", "replace-access", ...more], { DATA_DIR: dataDir });

const listWith = async (baseUrl: string, { apiToken }: Pick<Owner, "apiToken">) => {
  const answer = await fetch(`${baseUrl}/api/v2/pushes/active`, { headers: { authorization: `Bearer ${apiToken}` } });
  await answer.arrayBuffer();
  return answer.status;
};

/** @param user to make; without it the users are listed. */
async function scimAt(baseUrl: string, user?: object): Promise<object> {
  const answer = await fetch(`${baseUrl}/scim/v2/Users`, {
    headers: { authorization: `Bearer ${scimToken}`, "content-type": "application/scim+json" },
    ...(user === undefined ? {} : { method: "POST", body: JSON.stringify(user) }),
  });
  const { meta, ...body } = await answer.json();
  for (const each of body.Resources ?? []) delete each.meta;
  return body;
}

test("keys replace-access ends sessions and tokens, and passwords and links keep working", async () => {
  const dataDir = newDataDir();
  const environment = { PWP__SCIM__TOKEN: scimToken };
  const server = await startServer({ dataDir, environment });
  const before = await makeOwner(dataDir, server.baseUrl);
  const provisioned = await scimAt(server.baseUrl, { userName: "eve@example.com", externalId: "e-1" });
  expect(provisioned).toMatchObject({ userName: "eve@example.com", active: true });
  const anonymous = await createPush(server.baseUrl, { payload: "anonymous", expire_after_views: 5 });
  const owned = await pushVersion(server.baseUrl, before, { word: "owned", files: 1 }, 5);
  expect(await replace(dataDir)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--yes") });
  expect(await replace(dataDir, "--yes")).toEqual({
    exitCode: 1,
    stdout: "",
    stderr:
      "1 server process(es) run on this database, or ended in the last half minute without saying so: stop them first.\n",
  });
  expect(await listWith(server.baseUrl, before)).toBe(200);
  await server.stop();

  // A row that the server did not write must not become one that it has written.
  await withDatabaseOf(dataDir, async (db) => {
    await changeRows(
      db,
      "INSERT INTO identities (issuer, subject, user_id, created_at, mac) SELECT 'i', 's', id, 0, mac FROM users WHERE email = 'ada@example.com'",
    );
  });
  expect(await replace(dataDir, "--yes")).toMatchObject({
    exitCode: 0,
    stdout: "Replaced the access secret. 2 accounts, passkeys and linked identities keep working.\n",
  });

  const again = await startServer({ dataDir, environment });
  expect(await scimAt(again.baseUrl)).toMatchObject({ totalResults: 1, Resources: [provisioned] });
  expect(await listWith(again.baseUrl, before)).toBe(401);
  const accountPage = async (cookie: string) =>
    (await fetch(`${again.baseUrl}/users/edit`, { headers: { cookie }, redirect: "manual" })).status;
  expect(await accountPage(before.cookie)).toBe(303);
  const cookie = await signInAt(again.baseUrl, "ada@example.com", "a long enough password");
  expect(await readVersion(again.baseUrl, owned)).toBe("owned");
  expect(await readVersion(again.baseUrl, anonymous.urlToken)).toBe("anonymous");
  expect(await accountPage(cookie)).toBe(200);
  const page = await fetch(`${again.baseUrl}/p?state=active`, { headers: { cookie } });
  expect(await page.text()).toContain(owned);
  await again.stop();
  expect(await withDatabaseOf(dataDir, (db) => readRows(db, "SELECT count(*) AS rows FROM sessions"))).toEqual([
    { rows: 1 },
  ]);
});
