import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { type App, buildApp } from "../../src/app.ts";
import { type Every, secondMs, systemEvery } from "../../src/base/clock.ts";
import type { Effects } from "../../src/domain.ts";
import { makeDataDir, TestClock, testConfig, testEffects } from "./domain.ts";
import { settingsOfEngine } from "./engine.ts";

export interface TestApp extends AsyncDisposable {
  readonly app: App;
  readonly server: FastifyInstance;
  readonly clock: TestClock;
  readonly dataDir: string;
  readonly logLines: readonly string[];
  /** @returns an API token of a new user. */
  makeToken(email: string, admin?: boolean): Promise<string>;
  /** Listens on a free port of 127.0.0.1. @returns the origin. */
  listen(): Promise<string>;
}

export interface TestAppOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** If given, it is kept when the app is closed. */
  readonly dataDir?: string;
  readonly clock?: TestClock;
  readonly effects?: Partial<Effects>;
  readonly memoryBytes?: number;
}

export const password = "a long enough password";

/** The headers of a request with this API token. */
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The whole product on a real database, with a clock that the test controls. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const dataDir = options.dataDir ?? makeDataDir();
  const clock = options.clock ?? new TestClock();
  const logLines: string[] = [];
  const environment = { ...(await settingsOfEngine(dataDir, options.environment)), ...options.environment };
  const app = await buildApp(testConfig(dataDir, environment), {
    effects: { ...testEffects(clock), ...options.effects },
    every: everyInTests,
    logDestination: { write: (line: string) => logLines.push(line) },
    assetsDir: makeAssets(dataDir),
    version: "0.0.0-test",
    memoryBytes: options.memoryBytes ?? totalmem(),
    privateBytes: () => 0,
    onSecretsMissed(error) {
      throw error;
    },
  });
  await app.server.ready();
  return {
    app,
    server: app.server,
    clock,
    dataDir,
    logLines,
    async makeToken(email, admin = false) {
      const user = await app.domain.accounts.createUser({ email, password, admin });
      return (await app.domain.accounts.createToken(user.id, "test")).token;
    },
    async listen() {
      return await app.server.listen({ host: "127.0.0.1", port: 0 });
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Jobs that run every second run every 100 ms: tests wait less for emails. */
const everyInTests: Every = (ms, run) => systemEvery(ms === secondMs ? 100 : ms, run);

/** Creates empty assets instead of a build: pages need only their names. */
function makeAssets(dataDir: string): string {
  const assetsDir = join(dataDir, "assets");
  const icons = ["favicon.svg", "icon-180.png", "icon-192.png", "icon-512.png", "icon-maskable-512.png"];
  const styles = [
    "sealpush.css",
    "admin.css",
    "created.css",
    "signed-in.css",
    "dark.css",
    "dark-logo.css",
    "edit-push.css",
    "api-help.css",
    "about.css",
    "single-sign-on.css",
  ];
  const names = [...styles, ...icons, "page.js", "new-push.js", "passkeys.js", "secret.js"];
  names.push(
    "ask-first.js",
    "seal.js",
    "field-editor.js",
    "one-time-codes.js",
    "sealed-link.js",
    "link-page.js",
    "open-in-place.js",
    "deleted.js",
    "signed-in.js",
    "open-sealed.js",
    "new-request.js",
    "requests.js",
    "theme-preview.js",
  );
  mkdirSync(assetsDir, { recursive: true });
  for (const name of names) writeFileSync(join(assetsDir, name), "");
  writeFileSync(
    join(assetsDir, "manifest.json"),
    JSON.stringify(Object.fromEntries(names.map((name) => [name, name]))),
  );
  return assetsDir;
}
