import type { FastifyReply, FastifyRequest } from "fastify";
import type { Accounts, Administrator, Change, ClientContext, Session, User } from "../accounts/accounts.ts";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import type { Branding } from "../branding/branding.ts";
import type { Config } from "../config/config.ts";
import type { InTransaction } from "../database/database.ts";
import type { JobRuns } from "../database/job-runs.ts";
import type { Health } from "../health.ts";
import { reserveAnswer } from "../http/answers.ts";
import type { ApiReference } from "../http/api-reference.ts";
import type { BodyIntake } from "../http/body/body-intake.ts";
import type { FormFields } from "../http/body/form-fields.ts";
import { receiveForm } from "../http/body/receive-body.ts";
import { revalidated, sendPage } from "../http/headers.ts";
import type { RouteGroup } from "../http/listener.ts";
import { isRead } from "../http/not-found.ts";
import { isRobot } from "../http/robots.ts";
import type { SessionCookies } from "../http/session-cookie.ts";
import { chooseLocale, type Messages } from "../i18n/i18n.ts";
import type { FailedEmails, MailServerState } from "../mail/mail.ts";
import type { Groups, Policies } from "../policies/policies.ts";
import type { Actor, Presets, Push, Pushes } from "../pushes/pushes.ts";
import type { Requests } from "../requests/requests.ts";
import type { Events } from "../telemetry/events.ts";
import type { AssetIntegrity, AssetUrl } from "./assets.ts";
import { findLanguageChoice, isChosenHere, keepsLanguage, languageCookies } from "./language-choice.ts";
import { findMangledLink } from "./mangled-links.ts";
import { type AdminSection, type Faults, type Page, type PageContext, type PageUser, pageHref } from "./page.ts";
import { renderInPieces } from "./parts/long-text.tsx";
import { robotView } from "./robot.tsx";
import { findThemeChoice } from "./theme-choice.ts";

/** What the handlers of pages work with. */
export interface PageServices {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly pushes: Pushes;
  readonly requests: Requests;
  readonly policies: Policies;
  readonly groups: Groups;
  readonly presets: Presets;
  readonly accounts: Accounts;
  /** An account and its pushes; see Domain. */
  deleteAccount(userId: number, by: Administrator | null): Promise<Change>;
  /** A group, its service account and the pushes of that; see Domain. */
  deleteGroup(groupId: number, together: InTransaction): Promise<boolean>;
  readonly branding: Branding;
  readonly mail: FailedEmails & MailServerState;
  readonly jobs: Pick<JobRuns, "list">;
  health(): Promise<Health>;
  /** Version of the application. */
  readonly version: string;
  readonly sessionCookies: SessionCookies;
  readonly bodyIntake: BodyIntake;
  readonly assetUrl: AssetUrl;
  /** The operator's text about the instance; undefined: none. */
  readonly aboutHtml: string | undefined;
  readonly assetIntegrity: AssetIntegrity;
  /** What the help pages show. */
  readonly apiReference: Readonly<Record<"v1" | "v2", ApiReference>>;
  /** What the pages of the administration link to. */
  readonly adminSections: PageContext["adminSections"];
  readonly events: Pick<Events, "refusedUnavailable" | "singleSignOnRefused">;
}

/** What every page needs, including error pages. */
export interface LayoutServices extends Pick<PageServices, "assetUrl" | "assetIntegrity" | "version"> {
  readonly branding: Pick<Branding, "theme">;
  readonly mail: MailServerState;
  readonly config: Pick<
    Config,
    | "defaultLocale"
    | "languages"
    | "namedProxies"
    | "appearance"
    | "secureCookies"
    | "allowAnonymousRequests"
    | "requestsEnabled"
  > & {
    readonly accounts: Pick<Config["accounts"], "loginsDisabled" | "signOnOnly" | "requiresConfirmation" | "emails">;
  };
}

/** @param selfPath see PageContext. */
function pageUser({ id, email, admin }: User, session: FastifyRequest["session"]): PageUser {
  return { id, email, admin, staysSignedIn: session?.cookieSeconds !== undefined };
}

export function pageContext(request: FastifyRequest, services: LayoutServices, selfPath: string | null): PageContext {
  const { messages, fromQuery } = chooseLocale({
    query: queryOf(request, "locale"),
    chosen: findLanguageChoice(services.config, request.raw, request.client),
    account: request.session?.user.language ?? undefined,
    acceptLanguage: request.headers["accept-language"],
    defaultLocale: services.config.defaultLocale,
    enabled: services.config.languages,
  });
  const { user } = request;
  const { appearance } = services.config;
  return {
    messages,
    languages: services.config.languages,
    localeAsked: fromQuery,
    selfPath,
    user: user === null ? null : pageUser(user, request.session),
    faults: user?.admin === true ? faultsOf(request, services) : {},
    adminSections: [],
    baseUrl: request.pushBaseUrl,
    recipientsOnly: !request.listener.groups.has("internal"),
    mayRequest: user === null ? services.config.allowAnonymousRequests : services.config.requestsEnabled,
    signIns: !services.config.accounts.loginsDisabled,
    passwords: !services.config.accounts.signOnOnly,
    formToken: request.formToken,
    assetUrl: services.assetUrl,
    assetIntegrity: services.assetIntegrity,
    theme: services.branding.theme(),
    appearance: {
      ...appearance,
      themeMode: findThemeChoice(services.config, request.raw, request.client) ?? appearance.themeMode,
    },
    version: services.version,
  };
}

/**
 * The proxy is that of the administrator's own request: what strangers send cannot suggest an address to trust.
 */
function faultsOf({ client }: FastifyRequest, { config: { namedProxies, accounts }, mail }: LayoutServices): Faults {
  const { untrustedProxy } = client;
  const mailServer = mail.serverFailure();
  return {
    ...(untrustedProxy !== undefined && {
      trustProxy: `PWP__TRUSTED_PROXIES=${[...namedProxies, untrustedProxy].join(",")}`,
    }),
    noAccountEmails: accounts.requiresConfirmation && !accounts.emails,
    ...(mailServer !== undefined && { mailServer }),
  };
}

interface RenderOptions {
  /** 200 by default. */
  readonly status?: number;
  /** See PageContext; null by default. */
  readonly selfPath?: string | null;
  /** The Back button shows the page again with what was typed in it: only for an empty form. */
  readonly keepsTyped?: boolean;
  /** The page repeats nothing that another site can choose, so it may be compressed; see `compressFor`. */
  readonly compressible?: boolean;
  /** The text of the only `<style>` element of the page. */
  readonly styleText?: string | undefined;
}

const urlTokenShape = /^[A-Za-z0-9_-]{1,64}$/;
const idShape = /^[1-9]\d{0,14}$/;

/** One request for a page: what the browser sent, the services that a handler needs, and the ways to answer. */
export class PageRequest {
  readonly services: PageServices;
  /** For headers and cookies. Prefer the methods below. */
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply, services: PageServices) {
    this.request = request;
    this.reply = reply;
    this.services = services;
  }

  /** HEAD gets status and headers of GET. */
  get isGet(): boolean {
    return this.request.method === "GET" || this.request.method === "HEAD";
  }

  get actor(): Actor {
    return this.request.actor;
  }

  /** null: nobody is signed in. */
  get user(): User | null {
    return this.request.user;
  }

  get session(): Session | null {
    return this.request.session;
  }

  /** Where the request comes from: for sign-ins, and for what accounts record. */
  get clientContext(): ClientContext {
    const { client, address, userAgent } = this.request.actor;
    return { throttleKey: client, address, userAgent };
  }

  /** Origin of this server's pages, as this request reached it. */
  get baseUrl(): string {
    return this.request.baseUrl;
  }

  /** Origin of the links of pushes. */
  get pushBaseUrl(): string {
    return this.request.pushBaseUrl;
  }

  /** Texts in the language of the answer. */
  get messages(): Messages {
    return this.context().messages;
  }

  /** A query parameter given once; undefined when it is missing or given several times. */
  query(name: string): string | undefined {
    return queryOf(this.request, name);
  }

  /** The `:token` of the path; undefined when it cannot be a url_token. */
  get urlToken(): string | undefined {
    return parameterOf(this.request, "token", urlTokenShape);
  }

  /** The push of the `:token` of the path; undefined: there is none. */
  async findPush(): Promise<Push | undefined> {
    return this.urlToken === undefined ? undefined : await this.services.pushes.find(this.urlToken, this.actor);
  }

  /** The `:upload` of the path: the address of an upload; undefined when it cannot be one. */
  get uploadAddress(): string | undefined {
    return parameterOf(this.request, "upload", urlTokenShape);
  }

  /** The `:id` of the path. @throws AppError not_found if it is not a positive integer. */
  get id(): number {
    return this.idIn("id");
  }

  /** As `id`, for paths with several. */
  idIn(name: "id" | "member" | "push"): number {
    return Number(parameterOf(this.request, name, idShape) ?? this.notFound());
  }

  /** The form in the body. One with files is refused. @throws AppError as `receiveBody`. */
  form(): Promise<FormFields> {
    return receiveForm(this.request, this.services.bodyIntake);
  }

  context(selfPath: string | null = null): PageContext {
    const context = pageContext(this.request, this.services, selfPath);
    return { ...context, adminSections: this.services.adminSections };
  }

  render<Model>(
    view: (model: Model, context: PageContext) => Page,
    model: NoInfer<Model>,
    options: RenderOptions = {},
  ): Reply {
    return this.renderPlain((context) => view(model, context), options);
  }

  /** For a view that shows the same to everybody. */
  renderPlain(
    view: (context: PageContext) => Page,
    { status = 200, selfPath = null, keepsTyped = false, compressible = false, styleText }: RenderOptions = {},
  ): Reply {
    if (keepsTyped) this.reply.header("cache-control", revalidated);
    if (selfPath !== null) this.keepChosenLanguage();
    const page = renderInPieces(view(this.context(selfPath)));
    return sendPage(this.reply, status, page, { compressible, styleText });
  }

  private keepChosenLanguage(): void {
    const { messages, localeAsked } = this.context();
    if (this.query(keepsLanguage) === undefined || !localeAsked || !isChosenHere(this.request.raw)) return;
    this.setCookie(languageCookies(this.services.config).made(messages.locale.tag, this.request.client));
  }

  /**
   * A page with a form: only an empty one has an address, and only such a one is kept for the Back button. One that was sent
   * back repeats what was typed, so it is never compressible; see `compressFor`.
   */
  renderForm<Model>(
    view: (model: Model, context: PageContext) => Page,
    model: NoInfer<Model>,
    options: { readonly status: number; readonly path: string; readonly keepsTyped?: boolean },
  ): Reply {
    const { status, path, keepsTyped = false } = options;
    return this.render(view, model, {
      status,
      selfPath: this.isGet ? path : null,
      keepsTyped: keepsTyped && this.isGet,
    });
  }

  /** @throws AppError unavailable; see `reserveAnswer`. */
  readonly reserveAnswer = (textBytes: number): void => reserveAnswer(this.reply, textBytes);

  /** The page's script has sent the form and keeps its page, with the chosen files (browser/parts/send.ts). */
  get isSentByScript(): boolean {
    return this.request.headers.prefer === "return=minimal";
  }

  /** As `redirect`, after a form that a script may have sent: it needs only the address. */
  redirectAfterForm(path: string): Reply {
    if (!this.isSentByScript) return this.redirect(path);
    return this.reply.code(204).header("location", pageHref(this.context(), path)).send();
  }

  /** The browser requests this page of ours by GET; it keeps the `?locale=` of this request. */
  redirect(path: string): Reply {
    return this.reply.redirect(pageHref(this.context(), path), 303);
  }

  /** The browser goes to exactly this address, of ours or of another site. */
  redirectToUrl(url: string, status: 301 | 303 = 303): Reply {
    return this.reply.redirect(url, status);
  }

  /** @throws AppError not_found: answered like an unknown path. */
  notFound(): never {
    throw new AppError("not_found", "not-found");
  }

  setCookie(cookie: string): void {
    this.reply.header("set-cookie", cookie);
  }

  retryAfter(seconds: number): void {
    this.reply.header("retry-after", String(seconds));
  }

  /** For a form that is sent back after too many attempts. @returns seconds to wait. @throws every other error. */
  waitAfter(error: unknown): number {
    if (!(error instanceof AppError) || !(error.code === "too_many_requests" || error.code === "bytes_used_up"))
      throw error;
    const seconds = error.retryAfterSeconds ?? 60;
    this.retryAfter(seconds);
    return seconds;
  }

  /** Logs that the server is unavailable and sets Retry-After, for a page that shows this. */
  reportUnavailable(error: AppError): void {
    const { id: requestId, method, routeOptions } = this.request;
    this.services.events.refusedUnavailable({ requestId, method, route: routeOptions.url ?? "no route" }, error);
    this.retryAfter(error.retryAfterSeconds ?? 1);
  }
}

/** On pages that need a session. */
export class SignedInRequest extends PageRequest {
  override get user(): User {
    if (this.request.user === null) throw new Error("A page for signed-in people was reached without a user.");
    return this.request.user;
  }

  override get session(): Session {
    return existingSession(this.request);
  }
}

/** On pages for a sign-in that waits for its second factor: `user` is null there. */
export class WaitingRequest extends PageRequest {
  override get session(): Session {
    return existingSession(this.request);
  }
}

function existingSession({ session }: FastifyRequest): Session {
  if (session === null) throw new Error("A page that needs a session was reached without one.");
  return session;
}

/** The answer that a method of `PageRequest` makes. */
export type Reply = FastifyReply;

export type PageHandler<Request extends PageRequest = PageRequest> = (page: Request) => Reply | Promise<Reply>;

/** A handler sees the user and session that its route's access guarantees. */
type RouteHandler =
  | {
      readonly access: "public" | "page" | "page_entry" | "page_creator" | "page_requester";
      readonly handler: PageHandler;
    }
  | { readonly access: "page_waiting"; readonly handler: PageHandler<WaitingRequest> }
  | {
      readonly access: "page_session" | "page_admin";
      readonly handler: PageHandler<SignedInRequest>;
      /** With `keepsTyped`: sends the form back filled when its session has ended. Absent: the Back button shows it again. */
      readonly whenSignedOut?: PageHandler;
    };

/** One line of the table in `routes.ts`. `http/request.ts` describes the flags. */
export type PageRoute = RouteHandler & {
  /** Only GET, HEAD and OPTIONS change no state, unless the route says `changesNothing`. */
  readonly method: "GET" | "HEAD" | "OPTIONS" | "POST" | "PATCH" | "DELETE";
  /** With parameters, e.g. `/p/:token`. */
  readonly path: string;
  readonly group: RouteGroup;
  /** Robots get a neutral page instead. */
  readonly retrieval?: true;
  readonly beforeFactor?: true;
  readonly streamsFiles?: true;
  readonly keepsTyped?: true;
  /** A POST that only shows a page. It may come from another site, without a form token. */
  readonly changesNothing?: true;
  /**
   * Whether it is open where single sign-on is the only way in (PWP__OIDC__ONLY). Absent: open, except for what people who are not
   * signed in enter by (`page_entry`, `page_waiting`).
   */
  readonly withSignOnOnly?: boolean;
  /** The page is a section of the administration. */
  readonly section?: AdminSection["name"];
  /** Absent: the route exists with every configuration. */
  readonly isEnabled?: (config: Config) => boolean;
};

export function handlePage(
  route: PageRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  services: PageServices,
): Reply | Promise<Reply> {
  if (route.retrieval === true && isRobot(request.headers["user-agent"])) {
    return new PageRequest(request, reply, services).renderPlain(robotView);
  }
  const link = isRead(request.method) ? findMangledLink(request.raw.url ?? "") : undefined;
  if (link !== undefined) return reply.redirect(link, 303);
  switch (route.access) {
    case "public":
    case "page":
    case "page_entry":
    case "page_creator":
    case "page_requester":
      return route.handler(new PageRequest(request, reply, services));
    case "page_waiting":
      return route.handler(new WaitingRequest(request, reply, services));
    case "page_session":
    case "page_admin":
      if (request.user === null && route.whenSignedOut !== undefined)
        return route.whenSignedOut(new PageRequest(request, reply, services));
      return route.handler(new SignedInRequest(request, reply, services));
  }
}

function parameterOf({ params }: FastifyRequest, name: string, shape: RegExp): string | undefined {
  const value: unknown = Reflect.get(Object(params), name);
  return typeof value === "string" && shape.test(value) ? value : undefined;
}

export function queryOf(request: FastifyRequest, name: string): string | undefined {
  const { query } = request;
  if (typeof query !== "object" || query === null || !Object.hasOwn(query, name)) return undefined;
  const value: unknown = Reflect.get(query, name);
  return typeof value === "string" ? value : undefined;
}
