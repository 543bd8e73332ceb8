import { existsSync, statfsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { inflate } from "@sparticuz/chromium";
import { type Browser, type BrowserServer, chromium, type LaunchOptions } from "playwright-core";

const packageDir = resolve(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")), "..");
/** Inside the package, so that it is removed with that version. */
const unpackedDir = join(packageDir, "unpacked");
/** The browser, its font, and libraries that the system may lack. */
const archives = ["chromium.br", "fonts.tar.br", "al2023.tar.br"] as const;

/** Where Linux shares memory between processes. */
const sharedMemory = "/dev/shm";
/** More than the pages of all tests that run at once share. */
const sharedBytesMin = 1_073_741_824;

/** Containers may have very little of it. */
function hasSharedMemory(): boolean {
  if (!existsSync(sharedMemory)) return false;
  const { bavail, bsize } = statfsSync(sharedMemory);
  return bavail * bsize >= sharedBytesMin;
}

/** Names whose plain http browsers do not trust, unlike that of localhost. */
const plainHttpNames = "--host-resolver-rules=MAP *.test 127.0.0.1";

/**
 * The Chromium from npm. It prefers its own fonts and libraries to those of the system, so that it starts and renders the
 * same on every machine.
 */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch(await launchOptions());
}

/** The same for several processes, which connect to it. */
export async function launchBrowserServer(): Promise<BrowserServer> {
  return await chromium.launchServer({ ...(await launchOptions()), host: "127.0.0.1" });
}

async function launchOptions(): Promise<LaunchOptions> {
  await unpackOnce();
  return {
    executablePath: join(unpackedDir, "chromium"),
    // Half a minute by default, which a busy machine may need.
    timeout: 120_000,
    args: [
      "--no-sandbox",
      "--headless=new",
      "--disable-gpu",
      "--disable-background-networking",
      "--no-first-run",
      plainHttpNames,
    ],
    // Playwright replaces the shared memory by files, which cost a tenth of the CPU time of a page or more.
    ignoreDefaultArgs: hasSharedMemory() ? ["--disable-dev-shm-usage"] : [],
    env: {
      ...process.env,
      // Without a locale it suggests "download" for every file name that is not ASCII.
      LC_ALL: "C.UTF-8",
      FONTCONFIG_FILE: join(unpackedDir, "fonts.conf"),
      LD_LIBRARY_PATH: join(unpackedDir, "al2023/lib"),
    },
  };
}

/** Several test processes may unpack at once: each uses its own folder, and the first one is kept. */
async function unpackOnce(): Promise<void> {
  if (existsSync(unpackedDir)) return;
  const ownDir = await mkdtemp(`${unpackedDir}-`);
  try {
    await unpackInto(ownDir);
    await rename(ownDir, unpackedDir);
  } catch (error) {
    if (!existsSync(unpackedDir)) throw error;
  } finally {
    await rm(ownDir, { recursive: true, force: true });
  }
}

async function unpackInto(folder: string): Promise<void> {
  const outer = process.env.TMPDIR;
  // The package unpacks below the folder for temporary files, which it reads from the environment when it is called.
  process.env.TMPDIR = folder;
  const unpacked = archives.map((name) => inflate(join(packageDir, "bin", name)));
  if (outer === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = outer;
  await Promise.all(unpacked);
  await mkdir(join(folder, "fonts-cache"));
  await writeFile(join(folder, "fonts.conf"), fontsConfiguration());
}

function fontsConfiguration(): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(unpackedDir, "fonts")}</dir>
  <cachedir>${join(unpackedDir, "fonts-cache")}</cachedir>
</fontconfig>
`;
}
