import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startTestApp } from "../support/app.ts";
import { makeDataDir } from "../support/domain.ts";
import { startServer } from "../support/server.ts";
import { loadValid, mistakesOf } from "../support/settings.ts";

it("explains the service, under the instance's name, until the operator writes a text", async () => {
  await using app = await startTestApp({ environment: { PWP__BRAND__TITLE: "Acme <Vault>" } });
  const { statusCode, body } = await app.server.inject({ url: "/about", headers: { "accept-language": "de" } });
  expect(statusCode).toBe(200);
  expect(body).toContain("<bdi>Acme &lt;Vault></bdi> ist ein Dienst, um Geheimnisse");
});

it("shows the operator's text without its HTML, and keeps the policy of all pages", async () => {
  const text = "## Run by IT\n\nAsk [the desk](https://desk.example).\n\n<script>alert(1)</script>";
  await using app = await startTestApp({ environment: { PWP__BRAND__ABOUT: text } });
  const [about, form] = await Promise.all(["/about", "/"].map((url) => app.server.inject(url)));
  expect(about?.body).toContain("<h2>Run by IT</h2>");
  expect(about?.body).toContain('<a href="https://desk.example" rel="noopener noreferrer">the desk</a>');
  expect(about?.body).not.toContain("<script>");
  expect(about?.headers["content-security-policy"]).toBe(form?.headers["content-security-policy"]);
  expect(form?.body).toContain('<a href="/about">About</a>');
});

it("has a length limit", () => {
  expect(loadValid({ PWP__BRAND__ABOUT: "a".repeat(20_000) }).config.about).toHaveLength(20_000);
  expect(mistakesOf({ PWP__BRAND__ABOUT: "a".repeat(20_001) })).toEqual([
    "PWP__BRAND__ABOUT cannot be used: it must be a text in Markdown of at most 20000 characters.",
  ]);
});

it("can be a file", async () => {
  const path = join(await mkdtemp(join(tmpdir(), "sealpush-about-")), "about.md");
  onTestFinished(() => rm(dirname(path), { recursive: true }));
  await writeFile(path, "# Acme\n\n* for the staff\n");
  const server = await startServer({ dataDir: makeDataDir(), environment: { PWP__BRAND__ABOUT_FILE: path } });
  const answer = await fetch(`${server.baseUrl}/about`);
  expect(await answer.text()).toContain("<h2>Acme</h2>\n<ul>\n<li>for the staff</li>");
});

it("is the target of Password Pusher's address", async () => {
  await using app = await startTestApp();
  expect((await app.server.inject("/pages/about?locale=de")).headers.location).toBe("/about?locale=de");
});
