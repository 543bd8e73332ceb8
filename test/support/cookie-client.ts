import { expect } from "vitest";
import type { TestApp } from "./app.ts";

/** A browser that only keeps cookies. */
export class CookieClient {
  readonly cookies = new Map<string, string>();
  readonly #app: TestApp;
  readonly #address: Readonly<Record<string, string>>;

  /** @param address as a trusted proxy reports it; absent: loopback. */
  constructor(app: TestApp, address?: string) {
    this.#app = app;
    this.#address = address === undefined ? {} : { "x-forwarded-for": address };
  }

  async get(url: string, method: "GET" | "HEAD" = "GET", headers: Readonly<Record<string, string>> = {}) {
    const sent = { ...this.#address, ...headers, cookie: this.#cookie };
    return this.#keep(await this.#app.server.inject({ method, url, headers: sent }));
  }

  async post(url: string, fields: Readonly<Record<string, string>> = {}) {
    const headers = {
      ...this.#address,
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
      cookie: this.#cookie,
    };
    const payload = new URLSearchParams(fields).toString();
    return this.#keep(await this.#app.server.inject({ method: "POST", url, headers, payload }));
  }

  /** A request without a body, with the headers of a request from one of our pages. */
  async ask(method: string, url: string) {
    const headers = { ...this.#address, "sec-fetch-site": "same-origin", cookie: this.#cookie };
    return this.#keep(await this.#app.server.inject({ method: method as "GET", url, headers }));
  }

  /** The email address of the signed-in account, which every page shows; undefined: not signed in. */
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
