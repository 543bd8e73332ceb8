import { expect, test } from "vitest";
import { processOf } from "../support/alternating-proxy.ts";
import { openDeployment } from "../support/deployment.ts";

const deployment = openDeployment();

test("both processes speak to the database encrypted", async () => {
  const rows = await deployment.query(
    `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  expect(rows).toEqual([{ ssl: true }]);
});

deployment.test("a push is opened by the process that did not create it", async () => {
  const created = await deployment.fetch("/api/v2/pushes", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ push: { payload: "a secret", expire_after_views: 1 } }),
  });
  expect(created.status).toBe(201);
  const { url_token: token, html_url: link } = await created.json();
  expect(link).toBe(`https://push.example.com/p/${token}/r`);
  const opened = await deployment.fetch(`/api/v2/pushes/${token}`);
  expect(await opened.json()).toMatchObject({ payload: "a secret" });
  expect(processOf(opened)).toBe(1 - processOf(created));
});
