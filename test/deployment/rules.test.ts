import { beforeAll, expect } from "vitest";
import { bearer } from "../support/app.ts";
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

const hiddenIn = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );

/** Confirms the warnings, if there are any. */
async function saveMostViews(maxViews: number, path = "/admin/rules"): Promise<number> {
  const form = { ...kinds, requests: "1", maxViews: String(maxViews) };
  const shown = await (await deployment.visit(path, root)).text();
  const answer = await deployment.visit(path, root, { ...hiddenIn(shown), ...form });
  if (answer.status !== 422) return answer.status;
  return (await deployment.visit(path, root, { ...hiddenIn(await answer.text()), ...form })).status;
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

let presets = 0;
deployment.test(
  "a preset holds in both processes as soon as one has stored it, and of two who save it one does",
  async () => {
    const name = `preset ${++presets}`;
    const save = async (form: Readonly<Record<string, string>>) =>
      (await deployment.visit("/admin/presets", root, { name, ...form })).status;
    const viewsBy = async () => {
      const body = { push: { payload: "hunter2", preset: name } };
      return (await deployment.api("/api/v2/pushes", { body })).body.expire_after_views;
    };
    expect(await save({ expire_after_views: "2" })).toBe(303);
    expect([await viewsBy(), await viewsBy()]).toEqual([2, 2]);
    const change = (views: string) => save({ was: name, revision: "1", expire_after_views: views });
    const statuses = await Promise.all([change("3"), change("4")]);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 409]);
    const saved = statuses[0] === 303 ? 3 : 4;
    expect([await viewsBy(), await viewsBy()]).toEqual([saved, saved]);
    const remove = async (revision: string) =>
      (await deployment.visit("/admin/presets/delete", root, { name, revision })).status;
    expect([await remove("1"), await remove("2")]).toEqual([409, 303]);
    expect([await viewsBy(), await viewsBy()]).toEqual([undefined, undefined]);
  },
);

let groups = 0;
deployment.test(
  "a group's rules and its service tokens hold in both processes, until one deletes the group",
  async () => {
    const name = `group ${++groups}`;
    const made = await deployment.visit("/admin/groups", root, { name, claim: "" });
    const path = made.headers.get("location") ?? "";
    expect(await saveMostViews(3, `${path}/rules`)).toBe(303);
    const form = { name: "pipeline", may_create: "1", expires_in_days: "30", networks: "" };
    const page = await (await deployment.visit(`${path}/tokens`, root, form)).text();
    const token = /id="token"[^>]* value="([^"]+)"/.exec(page)?.[1] ?? "";
    const create = async (views: number) => {
      const body = { push: { payload: "hunter2", expire_after_views: views } };
      return (await deployment.api("/api/v2/pushes", { body, headers: bearer(token) })).status;
    };
    expect([await create(3), await create(3), await create(4), await create(4)]).toEqual([201, 201, 422, 422]);
    expect(await saveMostViews(2, `${path}/rules`)).toBe(303);
    await expect.poll(async () => [await create(3), await create(3)]).toEqual([422, 422]);

    const asked = await (await deployment.visit(`${path}/delete`, root, {})).text();
    expect((await deployment.visit(`${path}/delete`, root, hiddenIn(asked))).status).toBe(303);
    expect([await create(2), await create(2)]).toEqual([401, 401]);
  },
);
