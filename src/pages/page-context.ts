import type { Theme } from "../branding/branding.ts";
import type { Messages } from "../i18n/i18n.ts";
import type { AssetUrl } from "./assets.ts";

/** What every page is told, whatever it shows. */
export interface PageContext {
  readonly messages: Messages;
  /** The language was asked for by `?locale=`: links and forms of the page go on asking for it. */
  readonly localeAsked: boolean;
  /**
   * Path and query (without `locale`) under which a plain GET shows this page again; null where a GET would lose what is
   * shown (an opened secret, a form sent back): such a page offers no change of language.
   */
  readonly selfPath: string | null;
  readonly user: { readonly email: string; readonly admin: boolean } | null;
  /** People can sign in on this server: pages lead there. */
  readonly signIns: boolean;
  /** Proves to `receiveForm` that a form is from a page of this session; null: there is no session. */
  readonly formToken: string | null;
  readonly assetUrl: AssetUrl;
  /** What the instance calls itself, and how it looks. */
  readonly theme: Theme;
}

/** @param path starts with `/`; may have a query. */
export function withLocale(path: string, tag: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}locale=${encodeURIComponent(tag)}`;
}

/** The address of one of our own pages that keeps the language somebody asked for. */
export function pageHref(page: Pick<PageContext, "messages" | "localeAsked">, path: string): string {
  return page.localeAsked ? withLocale(path, page.messages.locale.tag) : path;
}
