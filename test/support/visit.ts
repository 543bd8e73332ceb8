import { URL } from "node:url";
import type { Browser, BrowserContext, BrowserContextOptions, Cookie, Page, Response } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { administratorEmail, email, password } from "./site-accounts.ts";

export { administratorEmail, email, password };

export interface VisitOptions extends BrowserContextOptions {
  /** true: signed in from the start. "by hand": the test signs in itself, so a cookie is allowed. */
  readonly signedIn?: true | "administrator" | "by hand";
  /** The visit opens a page that sets a cookie without a sign-in. */
  readonly setsCookies?: true;
  /** Other origins that the visit may request. */
  readonly allowedOrigins?: readonly string[];
  /** The visit leaves a page although its browser asks first; otherwise it stays there, and the question is a fault. */
  readonly leavesAnyway?: true;
  /** Errors that the visit provokes on purpose, as the browser reports them. */
  readonly expectedErrors?: RegExp;
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly baseUrl: string;
  /** Fails if a page has done something forbidden until now. The end of the visit does the same. */
  expectNoFaults(): Promise<void>;
}

export type AtTheEnd = (end: () => Promise<void>) => void;

/** Far longer than any page needs: only a failing test waits this long. */
const waitMsMax = 60_000;

/**
 * A visit that fails the test if a page does something forbidden: requests another origin, violates its content security
 * policy, opens a dialog, throws, loads a missing file, or sets a cookie without a sign-in.
 * @param atTheEnd registers the function that ends the visit.
 */
export async function startVisit(
  browser: Browser,
  baseUrl: string,
  options: VisitOptions,
  atTheEnd: AtTheEnd = onTestFinished,
): Promise<Visit> {
  const {
    signedIn,
    setsCookies = false,
    allowedOrigins = [],
    leavesAnyway,
    expectedErrors,
    ...contextOptions
  } = options;
  const context = await browser.newContext({ baseURL: baseUrl, locale: "en-GB", ...contextOptions });
  context.setDefaultTimeout(waitMsMax);
  const found: string[] = [];
  watch(context, [baseUrl, ...allowedOrigins], found);
  context.on("dialog", (dialog) => {
    if (leavesAnyway === true && dialog.type() === "beforeunload") return void dialog.accept();
    found.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const expectNone = (cookies: readonly Cookie[]) => {
    expect(found.splice(0).filter((problem) => expectedErrors?.test(problem) !== true)).toEqual([]);
    if (signedIn === undefined && !setsCookies) expect(cookies).toEqual([]);
  };
  atTheEnd(async () => {
    const cookies = await context.cookies();
    await context.close();
    expectNone(cookies);
  });
  if (signedIn === true) await signIn(context, email);
  if (signedIn === "administrator") await signIn(context, administratorEmail);
  const expectNoFaults = async () => expectNone(await context.cookies());
  return { context, page: await context.newPage(), baseUrl, expectNoFaults };
}

async function signIn(context: BrowserContext, email: string): Promise<void> {
  const form = { email, password };
  const headers = { "sec-fetch-site": "same-origin" };
  const answer = await context.request.post("/users/sign_in", { form, headers, maxRedirects: 0 });
  if (answer.status() !== 303) throw new Error(`Signing in was answered by ${answer.status()}.`);
}

function watch(context: BrowserContext, origins: readonly string[], found: string[]): void {
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "blob:" && protocol !== "data:" && !origins.includes(origin)) found.push(`asked ${request.url()}`);
  });
  context.on("response", (response) => {
    if (new URL(response.url()).origin === origins[0]) found.push(...faultsOf(response));
  });
  context.on("console", (message) => {
    // The browser's own message about every answer from 400 on; `faultsOf` decides which of them are faults.
    const isStatusNote = message.text().startsWith("Failed to load resource: the server responded with a status of");
    // Tests evaluate in the frame with the preview of the theme, where the page lets no script run.
    const isPreviewNote = message.text().startsWith("Blocked script execution in 'about:srcdoc'");
    if (message.type() === "error" && !isStatusNote && !isPreviewNote) found.push(`console: ${message.text()}`);
  });
  context.on("weberror", (error) => found.push(`thrown: ${error.error().message}`));
}

/** Whether a response is one that the server must never send. */
function faultsOf(response: Response): readonly string[] {
  const path = new URL(response.url()).pathname;
  const type = response.request().resourceType();
  const headers = response.headers();
  const faults: string[] = [];
  // A form that a page's script has sent may be refused, like one that the browser sent.
  const mayBeRefused = type === "document" || type === "fetch" || response.request().headers().prefer !== undefined;
  if (response.status() >= 500 || (!mayBeRefused && response.status() >= 400)) {
    faults.push(`${path} answered ${response.status()}`);
  }
  if (headers["referrer-policy"] !== "no-referrer") faults.push(`${path} allows referrers`);
  if (!/^default-src 'none'/.test(headers["content-security-policy"] ?? "")) faults.push(`${path} has no policy`);
  if (/unsafe-/.test(headers["content-security-policy"] ?? "")) faults.push(`${path} has an unsafe policy`);
  // The Back button shows the empty form again with what was typed in it.
  const forms =
    /^\/$|^\/p\/(?:new|[\w-]+\/(?:edit|another))$|^\/users\/(?:sign_in|sign_up|password\/new)$|^\/admin\/look$|^\/requests\/[\w-]+$/;
  const isForm = response.request().method() === "GET" && forms.test(path);
  const cacheable = isForm && headers["cache-control"] === "private, no-cache";
  if (type === "document" && headers["cache-control"] !== "no-store" && !cacheable)
    faults.push(`${path} may be cached`);
  return faults;
}
