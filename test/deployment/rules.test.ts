import { beforeAll, expect } from "vitest";
import { openDeployment } from "../support/deployment.ts";
import type { Owner } from "../support/owner.ts";

const deployment = openDeployment();
let root: Owner;
beforeAll(async () => {
  root = await deployment.makeUser("root@example.com");
  const promoted = await deployment.run(["user", "promote", "--email", "root@example.com"]);
  expect(promoted.exitCode, promoted.stderr).toBe(0);
});

const kinds = { kind_text: "1", kind_file: "1", kind_url: "1", kind_qr: "1" };
const mostViews = async () => (await (await deployment.fetch("/api/sealpush/policy")).json()).max_views;

async function saveMostViews(maxViews: number): Promise<number> {
  const html = await (await deployment.visit("/admin/rules", root)).text();
  const revision = /name="revision" value="(\d+)"/.exec(html)?.[1] ?? "";
  return (
    await deployment.visit("/admin/rules", root, { ...kinds, requests: "1", maxViews: String(maxViews), revision })
  ).status;
}

let views = 10;
deployment.test("rules that one process stored soon hold in both", async () => {
  views += 1;
  // Both have the rules of before in their memory.
  await Promise.all([mostViews(), mostViews()]);
  expect(await saveMostViews(views)).toBe(303);
  await expect.poll(async () => [await mostViews(), await mostViews()]).toEqual([views, views]);
});

deployment.test("of two administrators at two processes one saves, and the other one gets the form again", async () => {
  views += 1;
  const html = await (await deployment.visit("/admin/rules", root)).text();
  const revision = /name="revision" value="(\d+)"/.exec(html)?.[1] ?? "";
  const save = async (maxViews: number) =>
    (await deployment.visit("/admin/rules", root, { ...kinds, requests: "1", maxViews: String(maxViews), revision }))
      .status;
  const statuses = await Promise.all([save(views), save(views + 100)]);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 409]);
  const saved = statuses[0] === 303 ? views : views + 100;
  await expect.poll(async () => [await mostViews(), await mostViews()]).toEqual([saved, saved]);
});
