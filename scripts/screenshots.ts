import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../test/support/browser.ts";
import { buildAssets, buildServer, root, serverFile } from "./bundles.ts";
import { moveIn } from "./screenshots/instance.ts";
import { ownerShots, publicShots, type Shot } from "./screenshots/shots.ts";
import { takeStrips } from "./screenshots/strip.ts";

const outDir = join(root, "docs/screenshots");
const serverClock = new URL("./screenshots/server-clock.ts", import.meta.url).href;

interface Look {
  readonly width: number;
  readonly colorScheme: "light" | "dark";
}

/** Only the two account pages that differ most. */
const twoLooks: readonly Look[] = [
  { width: 1280, colorScheme: "light" },
  { width: 360, colorScheme: "dark" },
];
const allLooks: readonly Look[] = [
  ...twoLooks,
  { width: 1280, colorScheme: "dark" },
  { width: 360, colorScheme: "light" },
];

/** The built server on an empty folder. */
async function startServer(
  dataDir: string,
  clockFile: string,
): Promise<{ server: ChildProcess; origin: string; bootCode: string }> {
  const environment = {
    ...process.env,
    PORT: "0",
    HOST: "127.0.0.1",
    DATA_DIR: dataDir,
    CLOCK_FILE: clockFile,
    PWP__OVERRIDE_BASE_URL: "https://push.example.com",
    // All requests come from one address, in quick succession.
    PWP__THROTTLING__MINUTE: "unlimited",
    PWP__THROTTLING__SECOND: "unlimited",
  };
  const server = spawn(process.execPath, ["--import", serverClock, serverFile, "serve"], {
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let bootCode = "";
  for await (const line of createInterface({ input: server.stdout })) {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== "object" || entry === null) continue;
    if ("code" in entry) bootCode = String(entry.code);
    if ("port" in entry) return { server, origin: `http://127.0.0.1:${entry.port}`, bootCode };
  }
  throw new Error("The server ended before it was ready.");
}

interface Taking {
  readonly browser: Browser;
  readonly origin: string;
  readonly looks: readonly Look[];
  /** undefined: signed out. */
  readonly signIn: Readonly<Record<string, string>> | undefined;
}

async function takeAll(shots: readonly Shot[], { browser, origin, looks, signIn }: Taking): Promise<void> {
  const failed: string[] = [];
  for (const { width, colorScheme } of looks) {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      colorScheme,
      locale: "en-GB",
      reducedMotion: "reduce",
    });
    if (signIn !== undefined)
      await context.request.post(`${origin}/users/sign_in`, { form: signIn, headers: { origin } });
    for (const { name, prepare } of shots) {
      const page = await context.newPage();
      page.on("response", (response) => {
        if (response.status() >= 400) failed.push(`${name}: ${response.url()} answered ${response.status()}`);
      });
      await prepare(page, origin);
      await page.screenshot({ path: join(outDir, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      await page.close();
    }
    await context.close();
  }
  if (failed.length > 0) throw new Error(failed.join("\n"));
}

await Promise.all([
  buildServer({ removeOthers: false }),
  buildAssets({ removeOthers: false }),
  mkdir(outDir, { recursive: true }),
]);
const workDir = await mkdtemp(join(tmpdir(), "sealpush-screenshots-"));
const dataDir = join(workDir, "data");
const clockFile = join(workDir, "clock");
const setClock = (behindMs: number) => writeFile(clockFile, String(behindMs));
await setClock(0);
const { server, origin, bootCode } = await startServer(dataDir, clockFile);
try {
  const browser = await launchBrowser();
  try {
    await takeStrips(browser, origin, outDir);
    await takeAll(publicShots, { browser, origin, looks: allLooks, signIn: undefined });
    const { signIn, shown } = await moveIn(origin, dataDir, bootCode, setClock);
    await takeAll(ownerShots(shown), { browser, origin, looks: twoLooks, signIn });
  } finally {
    await browser.close();
  }
} finally {
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  await ended;
  await rm(workDir, { recursive: true });
}
