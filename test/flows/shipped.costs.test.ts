import { expect, test } from "vitest";
import { PasswordSeals } from "../../src/accounts/store/password-seals.ts";
import { openTestDomain } from "../support/domain.ts";
import { createPush, postJson } from "../support/endpoints.ts";
import { readRows } from "../support/engine-database.ts";
import { newDataDir, runProgram } from "../support/processes.ts";
import { program } from "../support/run/program.ts";
import { startServer } from "../support/server.ts";
import { copySite } from "../support/site.ts";
import { email, password } from "../support/site-accounts.ts";

const pushed = { payload: "secret", expire_after_views: 5, passphrase: "open sesame" };

/** The parameter sets of the rows that are made through the server, which uses the built program. */
async function storedSets(dataDir: string) {
  await using opened = await openTestDomain({ dataDir });
  const { db, vault } = opened.domain;
  const salts = await readRows<{ salt: Buffer }>(db, "SELECT passphrase_salt AS salt FROM pushes ORDER BY id");
  const [user] = await readRows<{ id: number; sealed: Buffer }>(db, "SELECT id, password_sealed AS sealed FROM users");
  const seals = new PasswordSeals({ access: vault.access, keyring: () => vault.keyring });
  const hash = seals.open({ id: Number(user?.id), hasPassword: true }, user?.sealed ?? null);
  return { passphrases: salts.map(({ salt }) => salt[0]), password: hash.replace(/^(argon2id:\d+):.*$/, "$1") };
}

/** A user, a push of anybody and one of the user. */
async function fill(dataDir: string, baseUrl: string): Promise<void> {
  const run = async (argv: readonly string[], stdin = "") =>
    (await runProgram(argv, { DATA_DIR: dataDir }, stdin)).stdout;
  await run(["user", "create", "--email", email, "--password-stdin"], password);
  const token = (await run(["token", "create", "--email", email, "--name", "test"])).trim();
  await createPush(baseUrl, pushed);
  const answer = await postJson(`${baseUrl}/api/v2/pushes`, { push: pushed }, { authorization: `Bearer ${token}` });
  expect(answer.status).toBe(201);
}

test("the program that ships hashes at the costs that protect passwords and passphrases", async () => {
  expect(program).toMatch(/\/dist\/main\.js$/);
  const dataDir = newDataDir();
  const server = await startServer({ dataDir });
  await fill(dataDir, server.baseUrl);
  await server.stop();
  expect(await storedSets(dataDir)).toEqual({ passphrases: [1, 2], password: "argon2id:2" });
});

test("the program that ships refuses accounts of a test build, whose hashes cost nothing", async () => {
  const dataDir = newDataDir();
  await copySite(dataDir);
  const server = await startServer({ dataDir });
  const form = new URLSearchParams({ email, password });
  const headers = { "sec-fetch-site": "same-origin" };
  const answer = await fetch(`${server.baseUrl}/users/sign_in`, {
    method: "POST",
    headers,
    body: form,
    redirect: "manual",
  });
  expect(answer.status).toBe(500);
  await server.stop();
  expect(server.logLines.join("\n")).toContain("at parametersOf");
});
