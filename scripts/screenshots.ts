import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../test/support/browser.ts";
import { buildAssets, buildServer, root, serverFile } from "./bundles.ts";

const outDir = join(root, "docs/screenshots");

interface Shot {
  readonly name: string;
  /** Leads the browser to what is to be seen, starting anywhere. */
  readonly prepare: (page: Page, origin: string) => Promise<unknown>;
}

const shownBaseUrl = "https://push.example.com";
const secretText = "Postgres, production\nuser: reporting\npassword: quartz-lantern-willow-93";

async function makePush(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/`);
  await page.locator("#push_payload").fill(secretText);
  await page.locator("#push_expire_after_views").fill("3");
  await page.locator("form[action^='/p'] button[type=submit]").click();
  await page.locator("#link").waitFor();
}

async function openLink(page: Page, origin: string): Promise<void> {
  await makePush(page, origin);
  const link = new URL(await page.locator("#link").inputValue());
  await page.goto(`${origin}${link.pathname}`);
}

async function openSecret(page: Page, origin: string): Promise<void> {
  await openLink(page, origin);
  await page.locator("main form button[type=submit]").click();
  await page.locator("label[for=reveal]").click();
}

const shots: readonly Shot[] = [
  { name: "new-push", prepare: (page, origin) => page.goto(`${origin}/`) },
  { name: "new-push-arabic", prepare: (page, origin) => page.goto(`${origin}/?locale=ar`) },
  { name: "link-ready", prepare: makePush },
  { name: "before-opening", prepare: openLink },
  { name: "secret", prepare: openSecret },
];

/** The real server on an empty folder of its own. */
async function startServer(dataDir: string): Promise<{ server: ChildProcess; origin: string }> {
  const environment = {
    ...process.env,
    PORT: "0",
    HOST: "127.0.0.1",
    DATA_DIR: dataDir,
    PWP__OVERRIDE_BASE_URL: shownBaseUrl,
  };
  const server = spawn(process.execPath, [serverFile, "serve"], {
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: server.stdout })) {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== "object" || entry === null || !("event" in entry) || entry.event !== "server_started")
      continue;
    if (!("port" in entry)) break;
    return { server, origin: `http://127.0.0.1:${entry.port}` };
  }
  throw new Error("The server ended before it was ready.");
}

async function takeAll(browser: Browser, origin: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [360, 1280]) {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme,
        locale: "en-GB",
        reducedMotion: "reduce",
      });
      for (const { name, prepare } of shots) {
        const page = await context.newPage();
        await prepare(page, origin);
        await page.screenshot({ path: join(outDir, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        await page.close();
      }
      await context.close();
    }
  }
}

await Promise.all([buildServer(), buildAssets({ removeOthers: false }), mkdir(outDir, { recursive: true })]);
const workDir = await mkdtemp(join(tmpdir(), "sealpush-screenshots-"));
const { server, origin } = await startServer(join(workDir, "data"));
try {
  const browser = await launchBrowser();
  try {
    await takeAll(browser, origin);
  } finally {
    await browser.close();
  }
} finally {
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  await ended;
  await rm(workDir, { recursive: true });
}
