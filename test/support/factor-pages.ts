import { expect, onTestFinished } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { password, startTestApp, type TestApp, type TestAppOptions } from "./app.ts";
import { TestAuthenticator } from "./authenticator.ts";
import { CookieClient } from "./cookie-client.ts";
import { appFor } from "./factors.ts";

export const ada = "ada@example.com";
export const eve = "eve@example.com";

export interface Fixture {
  readonly app: TestApp;
  readonly adasToken: string;
  newVisitor(): CookieClient;
  /** A client that has entered the right password, but not the second factor if there is one. */
  signIn(email?: string): Promise<CookieClient>;
}

/** The app with two accounts. It is closed after the test. */
export async function openFixture(options: TestAppOptions = {}): Promise<Fixture> {
  const app = await startTestApp(options);
  onTestFinished(() => app[Symbol.asyncDispose]());
  const adasToken = await app.makeToken(ada);
  await app.makeToken(eve);
  const newVisitor = () => new CookieClient(app);
  return {
    app,
    adasToken,
    newVisitor,
    async signIn(email = ada) {
      const visitor = newVisitor();
      await visitor.signIn(email, password);
      return visitor;
    },
  };
}

/** The value of a hidden field. */
export const hidden = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "";
/** The backup codes that a page shows. */
export const codesIn = (html: string) => html.match(/\b[0-9a-z]{4}(?:-[0-9a-z]{4}){3}\b/g) ?? [];

/** Sets up an authenticator app on the pages. */
export async function setUpApp({ app }: Fixture, visitor: CookieClient, proof: Readonly<Record<string, string>> = {}) {
  const page = await visitor.get("/users/factors/authenticator_app");
  expect(page.statusCode).toBe(200);
  const key = /<output[^>]*>([A-Z2-7 ]+)<\/output>/.exec(page.body)?.[1] ?? "";
  const authenticatorApp = appFor(key, () => app.clock.now());
  const fields = { set_up: hidden(page.body, "set_up"), code: authenticatorApp.code(), ...proof };
  const answer = await visitor.post("/users/factors/authenticator_app", fields);
  expect([200, 303]).toContain(answer.statusCode);
  app.clock.advance(minuteMs);
  return { code: authenticatorApp.code, backupCodes: codesIn(answer.body), answer };
}

/** The WebAuthn options for creating or using a passkey. */
export const optionsFor = async (visitor: CookieClient, path: string) => JSON.parse((await visitor.post(path)).body);

export async function addPasskey(visitor: CookieClient, name: string, proof: Readonly<Record<string, string>> = {}) {
  const authenticator = new TestAuthenticator();
  const passkey = authenticator.create(await optionsFor(visitor, "/users/factors/passkeys/options"));
  const answer = await visitor.post("/users/factors/passkeys", { name, passkey, ...proof });
  return { authenticator, answer };
}

export const isIn = async (visitor: CookieClient) => (await visitor.get("/users/token")).statusCode === 200;
/** The form token of the session that the browser keeps. */
export const tokenOf = (visitor: CookieClient) => [...visitor.cookies.values()][0] ?? "";
