import { expect, onTestFinished } from "vitest";
import { startTestApp, type TestApp } from "./app.ts";
import { startProvider, type TestProvider } from "./provider.ts";

export const baseUrl = "http://push.test";

/** Somebody with a browser of their own, as far as cookies go. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #app: TestApp;

  constructor(app: TestApp) {
    this.#app = app;
  }

  async get(url: string, method: "GET" | "HEAD" = "GET", headers: Readonly<Record<string, string>> = {}) {
    return this.#keep(await this.#app.server.inject({ method, url, headers: { ...headers, cookie: this.#cookie } }));
  }

  async post(url: string, fields: Readonly<Record<string, string>> = {}) {
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
      cookie: this.#cookie,
    };
    const payload = new URLSearchParams(fields).toString();
    return this.#keep(await this.#app.server.inject({ method: "POST", url, headers, payload }));
  }

  /** Whoever is signed in sees their own address on every page; undefined: nobody is. */
  async signedInAs(): Promise<string | undefined> {
    return /Signed in as ([^"<]+)"/.exec((await this.get("/help/api")).body)?.[1];
  }

  async signIn(email: string, password: string) {
    const answer = await this.post("/users/sign_in", { email, password });
    expect(answer.statusCode).toBe(303);
    return answer;
  }

  get #cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  #keep<Answer extends { headers: Record<string, unknown> }>(answer: Answer): Answer {
    const set = answer.headers["set-cookie"];
    for (const line of Array.isArray(set) ? set : set === undefined ? [] : [set]) {
      const text = String(line);
      const [name = "", value = ""] = text.slice(0, text.indexOf(";")).split("=");
      if (/max-age=0/i.test(text)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

export interface SignOnApp {
  readonly app: TestApp;
  readonly provider: TestProvider;
  newVisitor(): Visitor;
  /** From the button to the provider and back. @returns path and query of the callback, which nobody has opened yet. */
  goAndReturn(visitor: Visitor, person: string, start?: { path?: string; next?: string }): Promise<string>;
  /** The whole way. @returns the answer of the callback. */
  signOn(visitor: Visitor, person: string, start?: { path?: string; next?: string }): ReturnType<Visitor["get"]>;
}

/** Where the page between us and the provider leads. */
export function urlOf(html: string): string {
  const url = /<meta http-equiv="refresh" content="0;url=([^"]+)"/.exec(html)?.[1];
  if (url === undefined) throw new Error("This page leads nowhere.");
  return url.replaceAll("&amp;", "&");
}

/** The product and a provider that it trusts, until the test ends. One account is there: `ada@example.com`, an administrator. */
export async function startSignOnApp(environment: Readonly<Record<string, string>> = {}): Promise<SignOnApp> {
  const provider = await startProvider(baseUrl);
  onTestFinished(() => provider.close());
  const app = await startTestApp({ environment: { ...provider.environment, ...environment } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  await app.makeToken("ada@example.com", true);
  const goAndReturn: SignOnApp["goAndReturn"] = async (visitor, person, { path = "/users/auth/oidc", next } = {}) => {
    provider.answer = { login: { accountId: person } };
    const leaving = await visitor.post(path, next === undefined ? {} : { next });
    expect(leaving.statusCode).toBe(200);
    return provider.walk(urlOf(leaving.body));
  };
  return {
    ...{ app, provider, goAndReturn },
    newVisitor: () => new Visitor(app),
    signOn: async (visitor, person, start) => visitor.get(await goAndReturn(visitor, person, start)),
  };
}
