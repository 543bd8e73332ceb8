import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";

const unit = '"<&😀\n';
const payload = unit.repeat(200_000);
const escapedPayload = "&quot;&lt;&amp;😀\n".repeat(200_000);

test("the page of a push and the form sent back show a long text with every character", async () => {
  await using app = await startTestApp();
  const origin = await app.listen();
  const created = await fetch(`${origin}/api/v2/pushes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ push: { payload, expire_after_views: 1, retrieval_step: false } }),
  });
  const { url_token: token }: { url_token: string } = JSON.parse(await created.text());
  const secret = await fetch(`${origin}/p/${token}`);
  expect([secret.status, secret.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const sentBack = await fetch(`${origin}/p`, {
    method: "POST",
    headers: { origin },
    body: new URLSearchParams({ kind: "text", "push[payload]": payload, "push[expire_after_views]": "0" }),
  });
  expect(sentBack.status).toBe(422);
  for (const page of [await secret.text(), await sentBack.text()]) {
    // Compared by hand: the report of a difference would take minutes.
    expect(page.startsWith("<!doctype html><html") && page.endsWith("</html>")).toBe(true);
    expect(page.split(`>${escapedPayload}</`).length).toBe(2);
  }
});
