import { expect, test } from "vitest";
import { openAdministered } from "../support/administrators.ts";
import { countRows } from "../support/engine-database.ts";
import { signInClient } from "../support/signed-in-client.ts";

async function open() {
  const opened = await openAdministered();
  const { ownedPushes, fixture } = opened;
  const [id = 0] = ownedPushes.ids.push;
  const [urlToken = ""] = ownedPushes.urlTokens;
  const trail = async () =>
    (await fixture.app.domain.accounts.listAdminEntries(1)).map(({ action, subject }) => `${action} ${subject}`);
  return { ...opened, id, urlToken, trail };
}

test("an administrator reads the audit trail of an owned push, never its content, and this is recorded", async () => {
  const { root, id, urlToken, ownedPushes, trail } = await open();
  const page = await root.get(`/admin/pushes/${id}`);
  expect(page.status).toBe(200);
  expect(page.body).toContain(ownedPushes.email);
  expect(page.body).toContain("2001:db8:");
  expect(page.body).toContain("The owner created this push");
  expect(page.body).not.toContain(urlToken);
  const shown = ownedPushes.canaries.namesIn(Buffer.from(page.body));
  expect(shown.filter((name) => !["address", "user agent", "email", "referrer"].includes(name))).toEqual([]);
  expect(await trail()).toEqual([`read_trail ${id}`]);
  expect((await root.get("/admin/trail")).body).toContain(`Read the audit trail of push ${id}`);
  expect((await root.get("/admin/pushes/999999999999999")).status).toBe(404);
  expect(await trail()).toHaveLength(1);
});

test.each(["TOKEN", "/p/TOKEN", "https://push.example/p/TOKEN/r?locale=de", " https://push.example/de/f/TOKEN "])(
  "an administrator finds a push by its link, written as %j",
  async (link) => {
    const { root, id, urlToken } = await open();
    const answer = await root.post("/admin/pushes/find", { link: link.replace("TOKEN", urlToken) });
    expect(answer).toMatchObject({ status: 303, location: `/admin/pushes/${id}` });
  },
);

test.each(["", "nothing", "https://push.example/", "https://push.example/p/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "\0"])(
  "no push has the link %j",
  async (link) => {
    const { root } = await open();
    const answer = await root.post("/admin/pushes/find", { link });
    expect([answer.status, answer.body.includes("No push has this link")]).toEqual([404, true]);
    expect(await root.get("/admin/pushes/find")).toMatchObject({ status: 303, location: "/admin/pushes" });
  },
);

test("the record of an active push is deleted with its files and its trail, and its link is unknown", async () => {
  const { root, fixture, ownedPushes, trail } = await open();
  const [, id = 0] = ownedPushes.ids.push;
  const { db } = fixture.app.domain;
  expect((await root.post(`/admin/pushes/${id}/delete`)).location).toBe("/admin/pushes");
  for (const table of ["files", "audit_entries", "payloads"]) {
    expect([table, await countRows(db, table, `push_id = ${id}`)]).toEqual([table, 0]);
  }
  expect(await countRows(db, "pushes", `id = ${id}`)).toBe(0);
  const answer = await fixture.server.inject({ url: `/api/v2/pushes/${ownedPushes.urlTokens[1]}` });
  expect(answer.statusCode).toBe(404);
  expect(await trail()).toEqual([`deleted_push ${id}`]);
  expect((await root.post(`/admin/pushes/${id}/delete`)).status).toBe(404);
});

test("others do not reach the trail, the search or the deletion", async () => {
  const { fixture, id, urlToken } = await open();
  const user = await signInClient(fixture, "eve@example.com", { join: true });
  expect((await user.get(`/admin/pushes/${id}`)).status).toBe(404);
  expect((await user.post("/admin/pushes/find", { link: urlToken })).status).toBe(404);
  expect((await user.post(`/admin/pushes/${id}/delete`)).status).toBe(404);
  expect(await countRows(fixture.app.domain.db, "pushes", `id = ${id}`)).toBe(1);
});
