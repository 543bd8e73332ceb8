import type { FastifyRequest } from "fastify";
import type { Accounts, Administrator, Change, ClientContext, Session, User } from "../accounts/accounts.ts";
import type { Clock } from "../base/clock.ts";
import type { Branding } from "../branding/branding.ts";
import type { Config } from "../config/config.ts";
import type { Health } from "../health.ts";
import type { ApiReference } from "../http/api-reference.ts";
import type { BodyBudget } from "../http/body/body-budget.ts";
import type { SessionCookies } from "../http/session-cookie.ts";
import { chooseLocale } from "../i18n/i18n.ts";
import type { FailedEmails } from "../mail/mail.ts";
import type { Pushes } from "../pushes/pushes.ts";
import type { Events } from "../telemetry/events.ts";
import type { AssetUrl } from "./assets.ts";
import type { PageContext } from "./page-context.ts";

/** What the pages' handlers work with. */
export interface PageDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly pushes: Pushes;
  readonly accounts: Accounts;
  /** An account and its pushes; see Domain. */
  deleteAccount(userId: number, by: Administrator | null): Promise<Change>;
  readonly branding: Branding;
  readonly mail: FailedEmails;
  health(): Promise<Health>;
  /** Of the application. */
  readonly version: string;
  readonly sessionCookies: SessionCookies;
  readonly bodyBudget: BodyBudget;
  readonly assetUrl: AssetUrl;
  /** What the help pages show. */
  readonly apiReference: Readonly<Record<"v1" | "v2", ApiReference>>;
  readonly events: Pick<Events, "refusedUnavailable" | "singleSignOnRefused">;
}

/** What every page needs, refusals included. */
export interface FrameDeps extends Pick<PageDeps, "assetUrl"> {
  readonly branding: Pick<Branding, "theme">;
  readonly config: Pick<Config, "defaultLocale"> & { readonly accounts: Pick<Config["accounts"], "loginsDisabled"> };
}

/** @param selfPath see PageContext: null where following a link back to this address would lose or cost something. */
export function pageContext(request: FastifyRequest, deps: FrameDeps, selfPath: string | null): PageContext {
  const { messages, asked } = chooseLocale({
    query: queryOf(request, "locale"),
    account: request.session?.user.language ?? undefined,
    acceptLanguage: request.headers["accept-language"],
    settled: deps.config.defaultLocale,
  });
  const user = request.user === null ? null : { email: request.user.email, admin: request.user.admin };
  const signIns = !deps.config.accounts.loginsDisabled;
  return {
    ...{ messages, localeAsked: asked, selfPath, user, signIns, formToken: request.formToken },
    ...{ assetUrl: deps.assetUrl, theme: deps.branding.theme() },
  };
}

/** Who is signed in on a page whose access guarantees that somebody is. */
export function userOf(request: FastifyRequest): User {
  if (request.user === null) throw new Error("A page for signed-in people was reached by nobody.");
  return request.user;
}

/** Their session, on such a page. */
export function sessionOf(request: FastifyRequest): Session {
  if (request.session === null) throw new Error("A page for people with a session was reached by nobody.");
  return request.session;
}

/** Where the person asks from, for sign-ins and what accounts remember. */
export function clientContextOf(request: FastifyRequest): ClientContext {
  const { client, address, userAgent } = request.actor;
  return { throttleKey: client, address, userAgent };
}

/** A query parameter given once; undefined when it is missing or given several times. */
export function queryOf(request: FastifyRequest, name: string): string | undefined {
  const { query } = request;
  if (typeof query !== "object" || query === null || !Object.hasOwn(query, name)) return undefined;
  const value: unknown = Reflect.get(query, name);
  return typeof value === "string" ? value : undefined;
}

/** The number in the path, `:id`; undefined when it is none. */
export function idOf({ params }: FastifyRequest): number | undefined {
  const id: unknown = Reflect.get(Object(params), "id");
  return typeof id === "string" && /^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined;
}

const tokenShape = /^[A-Za-z0-9_-]{1,64}$/;

/** The url_token of a page address; undefined when it cannot be one. */
export function tokenOf(request: FastifyRequest): string | undefined {
  const { params } = request;
  if (typeof params !== "object" || params === null) return undefined;
  const token: unknown = Reflect.get(params, "token");
  return typeof token === "string" && tokenShape.test(token) ? token : undefined;
}
