import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { resolve } from "node:path";

/**
 * Hands out what the processes of one test run share, over HTTP on 127.0.0.1. Each is made with the first request, and its
 * modules are loaded only then.
 *
 * - `POST /databases` answers the address of a database with the schema, `POST /databases/bare` that of one without,
 *   `DELETE /databases/NAME` returns one.
 * - `POST /programs` builds what tests start and answers its files, as JSON; see `Programs`.
 * - `POST /browser` answers the address of the run's Chromium.
 * - `POST /site` answers the data folder that sites start with, as JSON; see `SiteFolder`.
 */
export interface RunService extends AsyncDisposable {
  readonly address: string;
}

/** @param folder of the run; it is removed after the run. */
export async function openRunService(folder: string, compileCache: string): Promise<RunService> {
  const databases = atFirstUse(async () => await (await import("../postgres/databases.ts")).Databases.start());
  const browser = atFirstUse(startBrowser);
  const programs = atFirstUse(async () => {
    const { buildForTests } = await import("./build.ts");
    const { fillCompileCache } = await import("./compile-cache.ts");
    const built = await buildForTests();
    await fillCompileCache(built.test, folder, compileCache);
    return built;
  });
  const site = atFirstUse(async () => {
    const { makeSiteFolder } = await import("./site-folder.ts");
    return await makeSiteFolder((await programs.get()).test, folder, compileCache);
  });
  const handlers: Readonly<Record<string, (name: string) => Promise<string>>> = {
    "POST databases": async (name) =>
      await (name === "bare" ? (await databases.get()).makeBare() : (await databases.get()).take()),
    "DELETE databases": async (name) => {
      await (await databases.get()).giveBack(name);
      return "";
    },
    "POST programs": async () => JSON.stringify(await programs.get()),
    "POST browser": async () => (await browser.get()).address,
    "POST site": async () => JSON.stringify(await site.get()),
  };
  const answer = async ({ method, url = "" }: IncomingMessage): Promise<string> => {
    const [, what = "", name = ""] = url.split("/");
    const handle = handlers[`${method} ${what}`];
    if (handle === undefined) throw new Error(`${method} ${url} is unknown.`);
    return await handle(name);
  };
  // A test that holds up its process for seconds would otherwise send its next request on a connection that is just being closed.
  const http = createServer({ keepAliveTimeout: 0 }, (request, response) => void settle(answer(request), response));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const address = http.address();
  if (typeof address !== "object" || address === null) throw new Error("The service listens on no port.");
  return {
    address: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      // The caller has already got the error of what failed to start.
      await (await browser.made())?.[Symbol.asyncDispose]();
      await (await databases.made())?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * The Chromium of the run, driven by a process of its own: Playwright makes an error for each message, and this process, where Vite
 * maps the stack of each error, would take a fifth more time for it.
 */
async function startBrowser() {
  const driver = fork(resolve(import.meta.dirname, "browser-process.ts"), { execArgv: ["--stack-trace-limit=0"] });
  const ended = once(driver, "exit");
  const address = await Promise.race([
    once(driver, "message").then(([text]) => String(text)),
    ended.then(([code]) => Promise.reject(new Error(`The process of the browser ended with ${code}.`))),
  ]);
  return {
    address,
    async [Symbol.asyncDispose]() {
      if (driver.connected) driver.disconnect();
      await ended;
    },
  };
}

/** @returns `get` makes it the first time; `made` is it, or undefined if nobody asked for it or it failed. */
function atFirstUse<T>(make: () => Promise<T>) {
  let making: Promise<T> | undefined;
  return {
    get(): Promise<T> {
      making ??= make();
      return making;
    },
    made: async (): Promise<T | undefined> => await making?.catch(() => undefined),
  };
}

async function settle(answer: Promise<string>, response: ServerResponse): Promise<void> {
  try {
    response.end(await answer);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}
