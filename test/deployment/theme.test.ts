import { beforeAll, expect } from "vitest";
import { openDeployment } from "../support/deployment.ts";
import type { Owner } from "../support/owner.ts";

const deployment = openDeployment();
const nobody = { cookie: "" };
let root: Owner;
beforeAll(async () => {
  root = await deployment.makeUser("root@example.com");
  const promoted = await deployment.run(["user", "promote", "--email", "root@example.com"]);
  expect(promoted.exitCode, promoted.stderr).toBe(0);
});

const page = async () => await (await deployment.visit("/users/sign_in", nobody)).text();

let names = 0;
deployment.test("a name that one process stored is soon on the pages of both", async () => {
  const name = `Vault ${++names}`;
  expect((await deployment.visit("/admin/look/name", root, { name })).status).toBe(303);
  await expect.poll(async () => [await page(), await page()].every((html) => html.includes(name))).toBe(true);
});

deployment.test("a style sheet that one process stored is at its address at both at once", async () => {
  const style = `.name-${++names} { color: #123456; }`;
  expect((await deployment.visit("/admin/look/style", root, { style })).status).toBe(303);
  const linked = async () => /<link rel="stylesheet" href="(\/branding\/[^"]+)"/.exec(await page())?.[1] ?? "";
  // The process that stored it shows it first.
  await linked();
  const path = await linked();
  for (const _ of ["each", "process"]) {
    const answer = await deployment.fetch(path);
    expect(answer.headers.get("content-type")).toMatch(/^text\/css/);
    expect(await answer.text()).toContain(`.name-${names}`);
  }
  await expect.poll(async () => [await linked(), await linked()]).toEqual([path, path]);
});
