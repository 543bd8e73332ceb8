import { expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { giveUpMail, openAdministered } from "../support/administrators.ts";
import { changeRows, readRows } from "../support/engine-database.ts";

const { admin } = en;

async function open() {
  const opened = await openAdministered();
  const { domain } = opened.fixture.app;
  await expect.poll(async () => (await domain.jobs.list()).some(({ name }) => name === "sign-on steps")).toBe(true);
  const trail = async () =>
    (await domain.accounts.listAdminEntries(1)).map(({ action, subject }) => `${action} ${subject}`);
  return { ...opened, domain, trail };
}

test("an administrator sees every job with its latest run, and what waits", async () => {
  const { root } = await open();
  const page = await root.get("/admin/jobs");
  expect(page.status).toBe(200);
  for (const title of Object.values(admin.jobNames)) expect(page.body).toContain(title);
  expect(page.body).toContain("30\u00a0seconds");
  expect(page.body).toContain(admin.retryEmails);
  expect(page.body).not.toContain(admin.retryDeletions);
});

test("all failed emails are queued again, once", async () => {
  const { root, domain, fixture, trail } = await open();
  await giveUpMail(fixture, "eve@example.com");
  const { failed } = await domain.mail.sizes();
  expect(failed).toBeGreaterThan(1);
  expect((await root.post("/admin/jobs/retry_emails")).location).toBe("/admin/jobs?done=retried");
  expect(await trail()).toEqual(["retried_mails "]);
  expect((await root.get("/admin/trail")).body).toContain("Queued all failed emails to be sent again");
});

test("failed deletions of files are tried again now", async () => {
  const { root, domain, fixture, ownedPushes, trail } = await open();
  expect((await root.post("/admin/jobs/retry_deletions")).location).toBe("/admin/jobs?done=nothing");
  const dueAt = fixture.clock.now() + 3_600_000;
  // Somebody has opened its push and may be downloading it.
  const authorization = { authorization: `Bearer ${ownedPushes.apiToken}` };
  const push = { files: [{ filename: "plan.txt", data: btoa("the plan") }] };
  const made = { method: "POST", url: "/api/v2/pushes", payload: { push }, headers: authorization } as const;
  const { url_token: urlToken } = (await fixture.server.inject(made)).json();
  await fixture.server.inject(`/api/v2/pushes/${urlToken}`);
  const [file] = await readRows<{ blobKey: string }>(
    domain.db,
    'SELECT blob_key AS "blobKey" FROM files WHERE id IN (SELECT file_id FROM download_tickets)',
  );
  const [failed, untried, opened] = ["a".repeat(32), "b".repeat(32), file?.blobKey];
  await changeRows(
    domain.db,
    `INSERT INTO blob_deletions (blob_key, due_at, attempts)
     VALUES ('${failed}', ${dueAt}, 3), ('${untried}', ${dueAt}, 0), ('${opened}', ${dueAt}, 3)`,
  );
  const page = await root.get("/admin/jobs");
  expect(page.body).toContain(admin.retryDeletions);
  expect((await root.post("/admin/jobs/retry_deletions")).location).toBe("/admin/jobs?done=retried");
  expect(await trail()).toEqual(["retried_deletions "]);
  const retried = await readRows(domain.db, `SELECT blob_key FROM blob_deletions WHERE due_at <> ${dueAt}`);
  expect(retried).toEqual([{ blob_key: failed }]);
});
