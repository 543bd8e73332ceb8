import type { Scope, Session, User } from "../accounts/accounts.ts";
import type { Actor } from "../pushes/pushes.ts";
import type { AnswerHold, AnswerOutflow } from "./answers.ts";
import type { BodyHold } from "./body/body-intake.ts";
import type { FormFields } from "./body/form-fields.ts";
import type { Client } from "./client.ts";
import type { Listener, RouteGroup } from "./listener.ts";

/**
 * The callers that may use a route. Every route declares one value (`route-access.ts` refuses to start otherwise):
 * - `public`: credentials are ignored;
 * - `api`: API credentials are checked when present, and required when anonymous use is off; cookies are never read;
 * - `api_token`: API credentials are required;
 * - `api_requester`: as `api`, and credentials are required when requests without an account are off;
 * - `scim`: the identity provider's token is required; neither a user's token nor a cookie counts;
 * - `page`: a session cookie is read;
 * - `page_entry`: as `page`, for forms that sign somebody in or prepare it. They need a form token also without a session. Threat: another
 *   site signs the visitor in to the attacker's account, who then sees what the visitor does there;
 * - `page_creator`: as `page`, and a session is required when anonymous use is off;
 * - `page_requester`: as `page`, and a session is required when requests without an account are off;
 * - `page_session`: a session is required;
 * - `page_admin`: an administrator's session is required; to others the page does not exist;
 * - `page_waiting`: a session that waits for its second factor, and is valid nowhere else.
 */
export type RouteAccess =
  | "public"
  | "api"
  | "api_token"
  | "api_requester"
  | "scim"
  | "page"
  | "page_entry"
  | "page_creator"
  | "page_requester"
  | "page_session"
  | "page_admin"
  | "page_waiting";

/** The scope that a token needs. "any": each token identifies its user. null: none, since the link is enough. */
export type NeededScope = Scope | "any" | null;

declare module "fastify" {
  interface FastifyRequest {
    client: Client;
    /** What received the request. */
    listener: Listener;
    /** The origin of links in the answer, without a trailing slash; empty on `/up`. */
    baseUrl: string;
    /** The origin of links of pushes: `baseUrl`, unless recipients use another address. */
    pushBaseUrl: string;
    /** The sender of the request; anonymous on `public` routes. */
    actor: Actor;
    /** The account behind `actor.user`. */
    user: User | null;
    /** On pages, the session of `user`; on `page_waiting`, the waiting session, while `user` is still null. */
    session: Session | null;
    /** The form token that forms of the answer carry: of the visitor's session, in any state, else on `page_entry` of the entry cookie; null: none. */
    formToken: string | null;
    /** On `page_entry`, the form token of the visitor's entry cookie; null: none. */
    entryFormToken: string | null;
    /** A state change whose headers do not prove its origin, with a session or on `page_entry`: its form must carry a form token. */
    needsFormToken: boolean;
    /** Checks again whether the request's session or token admits it, for a body that arrives later; null: it has none. @throws AppError. */
    confirmAccess: (() => Promise<unknown>) | null;
    /** The form, if it was read already to check its token. */
    formRead: FormFields | null;
    /** The memory of the body, from its first byte until the request is answered. */
    bodyHold: BodyHold | null;
    /** The memory that is counted for the answer; null: none so far. */
    answerHold: AnswerHold | null;
  }
  interface FastifyInstance {
    /** The resources that all answers share while they are being sent. */
    answerOutflow: AnswerOutflow;
    /** The content security policy of a page. */
    pagePolicyFor: (request: FastifyRequest) => string;
  }
  interface FastifyContextConfig {
    access: RouteAccess;
    group: RouteGroup;
    /** Every API route declares it. */
    scope?: NeededScope;
    /** Page routes that change state refuse requests from other sites. */
    changesState: boolean;
    /** The handler reads multipart forms itself with `receiveBody`, which passes on the files as they arrive. */
    streamsFiles?: boolean;
    /** The handler takes a form before it does anything else: it checks the form's token itself and sends the form back without it. */
    takesForm?: boolean;
    /** What was typed in this form must not be lost: without the session that it needs, it is not redirected. */
    keepsTyped?: boolean;
    /** A form that keeps what was typed reaches its handler also without a session: the handler sends it back. */
    sendsBackSignedOut?: boolean;
    /** Open to users who lack a required second factor, so that they can set one up or sign out. */
    beforeFactor?: boolean;
    /** The route may reveal a secret or end a push: declared prefetches, HEAD requests and parts of other pages never reach the handler. */
    retrieval?: boolean;
  }
}
