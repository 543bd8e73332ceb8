import type { Scope, Session, User } from "../accounts/accounts.ts";
import type { Actor } from "../pushes/pushes.ts";
import type { FormFields } from "./body/form-fields.ts";
import type { Client } from "./client.ts";

/**
 * Who may call a route. Every route names one (`route-access.ts` refuses to start otherwise):
 * - `public`: credentials are not looked at;
 * - `api`: API credentials are checked when present, and needed when anonymous use is off; cookies are never read;
 * - `api_token`: API credentials are needed;
 * - `page`: a session cookie is looked at; - `page_creator`: as `page`, and a session is needed when anonymous use is off;
 * - `page_session`: a session is needed; - `page_admin`: an administrator's; others find no such page;
 * - `page_waiting`: a session that waits for its second factor, which counts nowhere else.
 */
export type RouteAccess =
  | "public"
  | "api"
  | "api_token"
  | "page"
  | "page_creator"
  | "page_session"
  | "page_admin"
  | "page_waiting";

declare module "fastify" {
  interface FastifyRequest {
    client: Client;
    /** Origin that links made for this request start with; empty on `/up`. */
    baseUrl: string;
    /** Who is at the door. Without credentials on `public` routes. */
    actor: Actor;
    /** The account behind `actor.user`. */
    user: User | null;
    /** The session behind `user` on pages; on `page_waiting`, the one that waits, of a user who is not `user` yet. */
    session: Session | null;
    /** Of the session that a page's visitor brings, whatever that session may do; null: there is none. */
    formToken: string | null;
    /** A state change with a session that does not tell where it comes from: it needs the form token. */
    owesFormToken: boolean;
    /** The form that was read to check its token, for the handler. */
    formRead: FormFields | null;
  }
  interface FastifyContextConfig {
    access?: RouteAccess;
    /** What a token needs for this route. Every API route says it; null: nothing, as for who has the link. */
    scope?: Scope | null;
    /** Page routes that change state refuse requests that come from another site. */
    changesState?: boolean;
    /** The handler reads forms with files by `receiveBody`, as they arrive. */
    formInParts?: boolean;
    /** Where second factors are required: open to people who have none yet, so that they can set one up or leave. */
    beforeFactor?: boolean;
    /** A secret may leave here: declared prefetches and HEAD requests never reach the handler. */
    retrieval?: boolean;
  }
}
