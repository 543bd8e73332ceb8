import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { engine } from "./engine.ts";
import { runProgram } from "./processes.ts";
import { askRun } from "./run/ask.ts";
import type { SiteFolder } from "./run/site-folder.ts";
import { launchServer } from "./server.ts";
import { connectBrowser } from "./shared-browser.ts";
import { makeSiteAccounts } from "./site-accounts.ts";
import { type AtTheEnd, startVisit, type Visit, type VisitOptions } from "./visit.ts";

/** The built server and a browser, for all tests of one file. */
export interface Site {
  readonly baseUrl: string;
  readonly logLines: readonly string[];
  /** A new browser profile: nothing is kept from one visit to the next. @param atTheEnd default: it ends with the test. */
  visit(options?: VisitOptions, atTheEnd?: AtTheEnd): Promise<Visit>;
  /** Creates a push by API v2; it belongs to the user if `owned`. */
  push(fields: Readonly<Record<string, unknown>>, owned?: "owned"): Promise<SitePush>;
  /** The state of a push as its owner gets it from API v2, without a view. */
  ownPush(urlToken: string): Promise<Readonly<Record<string, unknown>>>;
  /** Kinds of the audit entries of an owned push, newest first. */
  auditKinds(urlToken: string): Promise<readonly string[]>;
  /** `fetch` against the server, without following redirects. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export interface SitePush {
  readonly urlToken: string;
  /** Path of the link that is handed out: `html_url` without its origin. */
  readonly path: string;
}

interface Running {
  readonly baseUrl: string;
  readonly logLines: readonly string[];
  readonly apiToken: string;
  readonly browser: Browser;
}

/**
 * Call at the top of a test file: starts the site before its tests and stops it afterwards. It has one user and one administrator.
 * @param openBrowser default: the browser of the test run.
 */
export function openSite(environment: Readonly<Record<string, string>> = {}, openBrowser = connectBrowser): Site {
  let running: Running | undefined;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    running = await run({ environment, openBrowser }, ends);
  });
  // Registered here, because a hook that a running hook registers is never called.
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  const site = (): Running => {
    if (running === undefined) throw new Error("The site exists only while tests run.");
    return running;
  };
  const request = (path: string, init: RequestInit = {}) =>
    fetch(`${site().baseUrl}${path}`, { redirect: "manual", ...init });
  const bearer = () => ({ authorization: `Bearer ${site().apiToken}` });
  const ownJson = async (path: string) => bodyOf(await request(path, { headers: bearer() }));
  return {
    get baseUrl() {
      return site().baseUrl;
    },
    get logLines() {
      return site().logLines;
    },
    visit: (options = {}, atTheEnd) => startVisit(site().browser, site().baseUrl, options, atTheEnd),
    async push(fields, owned) {
      const answer = await request("/api/v2/pushes", {
        method: "POST",
        headers: { "content-type": "application/json", ...(owned === undefined ? {} : bearer()) },
        body: JSON.stringify({ push: fields }),
      });
      const { url_token: urlToken, html_url: link } = await bodyOf(answer);
      return { urlToken: String(urlToken), path: new URL(String(link)).pathname };
    },
    async ownPush(urlToken) {
      for (const list of ["active", "expired"]) {
        const pushes = await ownJson(`/api/v2/pushes/${list}`);
        if (!Array.isArray(pushes)) throw new Error("The list is no array.");
        const found: unknown = pushes.find((push) => push.url_token === urlToken);
        if (typeof found === "object" && found !== null) return { ...found };
      }
      throw new Error("The user has no such push.");
    },
    async auditKinds(urlToken) {
      const { logs } = await ownJson(`/api/v2/pushes/${urlToken}/audit`);
      if (!Array.isArray(logs)) throw new Error("The audit trail is no array.");
      return logs.map((entry) => String(entry.kind));
    },
    fetch: request,
  };
}

/** @param ends collects the function that undoes each step, in order. */
async function run(
  { environment, openBrowser }: { environment: Readonly<Record<string, string>>; openBrowser: () => Promise<Browser> },
  ends: (() => Promise<unknown>)[],
): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-site-"));
  ends.push(async () => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, "data");
  const prepared = engine === "sqlite" ? await copySite(dataDir) : undefined;
  const [browser, server] = await Promise.all([
    openBrowser(),
    launchServer({ dataDir, environment }, (end) => ends.push(end)),
  ]);
  ends.push(() => browser.close());
  const apiToken = prepared ?? (await makeSiteAccounts((argv, stdin) => succeed(argv, dataDir, stdin)));
  return { baseUrl: server.baseUrl, logLines: server.logLines, apiToken, browser };
}

/** The data folder that sites start with, made by the test build. @returns the user's API token. */
export async function copySite(dataDir: string): Promise<string> {
  const site: SiteFolder = JSON.parse(await askRun("POST", "site"));
  cpSync(site.dataDir, dataDir, { recursive: true });
  return site.apiToken;
}

async function succeed(argv: readonly string[], dataDir: string, stdin: string): Promise<string> {
  const { exitCode, stdout, stderr } = await runProgram(argv, { DATA_DIR: dataDir }, stdin);
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}

async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
  return body;
}
