import { expect, onTestFinished } from "vitest";
import { startTestApp, type TestApp } from "./app.ts";
import { CookieClient } from "./cookie-client.ts";
import { type ProviderShape, startProvider, type TestProvider } from "./provider.ts";

export { CookieClient } from "./cookie-client.ts";

export const baseUrl = "http://push.test";

export interface SignOnApp {
  readonly app: TestApp;
  readonly provider: TestProvider;
  newVisitor(): CookieClient;
  /** Presses the button and signs in at the provider. @returns path and query of the callback, which is not requested yet. */
  goAndReturn(visitor: CookieClient, person: string, start?: { path?: string; next?: string }): Promise<string>;
  /** The whole sign-on. @returns the response of the callback. */
  signOn(
    visitor: CookieClient,
    person: string,
    start?: { path?: string; next?: string },
  ): ReturnType<CookieClient["get"]>;
}

/** The URL of the page that redirects to the provider. */
export function urlOf(html: string): string {
  const url = /<meta http-equiv="refresh" content="0;url=([^"]+)"/.exec(html)?.[1];
  if (url === undefined) throw new Error("This page has no link to the provider.");
  return url.replaceAll("&amp;", "&");
}

/** A server and its provider, both closed after the test. It has one account: `ada@example.com`, an administrator. */
export async function startSignOnApp(
  environment: Readonly<Record<string, string>> = {},
  shape?: ProviderShape,
): Promise<SignOnApp> {
  const provider = await startProvider(baseUrl, shape);
  onTestFinished(() => provider.close());
  const app = await startTestApp({ environment: { ...provider.environment, ...environment } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  await app.makeToken("ada@example.com", true);
  const goAndReturn: SignOnApp["goAndReturn"] = async (visitor, person, { path = "/users/auth/oidc", next } = {}) => {
    provider.answer = { login: { accountId: person } };
    const leaving = await visitor.post(path, next === undefined ? {} : { next });
    expect(leaving.statusCode).toBe(200);
    return provider.followRedirects(urlOf(leaving.body));
  };
  return {
    app,
    provider,
    goAndReturn,
    newVisitor: () => new CookieClient(app),
    signOn: async (visitor, person, start) => visitor.get(await goAndReturn(visitor, person, start)),
  };
}
