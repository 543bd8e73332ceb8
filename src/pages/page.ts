import { createContext, type VNode } from "preact";
import { useContext } from "preact/hooks";
import { renderToString } from "preact-render-to-string";
import type { Theme } from "../branding/branding.ts";
import type { Config } from "../config/config.ts";
import type { Messages } from "../i18n/i18n.ts";
import type { AssetIntegrity, AssetUrl } from "./assets.ts";

/** A whole page, ready to be rendered: what every view returns. */
export type Page = VNode;

/**
 * The value of `translate` for text that no translation service may see, such as a secret. Preact's types ask for a boolean, but it
 * leaves out attributes that are `false`, and a browser translates what does not say "no".
 */
export const untranslated = "no" as unknown as boolean;

/** @returns the HTML document, from its doctype on. */
export function renderPage(page: Page): string {
  return `<!doctype html>${renderToString(page)}`;
}

export interface Faults {
  /** The setting that makes the server trust the proxy of this request, as a line of an env file. */
  readonly trustProxy?: string;
  /** Addresses must be confirmed by email, and no email can be sent. */
  readonly noAccountEmails?: boolean;
  /** Why no email can be sent for now: a sentence in English. */
  readonly mailServer?: string;
}

export interface PageUser {
  readonly id: number;
  readonly email: string;
  readonly admin: boolean;
  /** The session outlives the browser: signing out keeps what this browser has stored for the account. */
  readonly staysSignedIn: boolean;
}

/** A page of the administration that every other one links to. */
export interface AdminSection {
  readonly name: TextOf<Messages["admin"]>;
  readonly path: string;
}

/** The keys of the texts without placeholders. */
type TextOf<Texts> = { [Key in keyof Texts]: Texts[Key] extends string ? Key : never }[keyof Texts];

/** What the layout of every page needs, whatever the page shows. */
export interface PageContext {
  readonly messages: Messages;
  /** The languages that people can choose. */
  readonly languages: readonly Messages[];
  /** The request names its language by `?locale=`: links and forms of the page keep the parameter. */
  readonly localeAsked: boolean;
  /**
   * Path and query (without `locale`) under which a plain GET shows this page again; null where a GET would lose what is
   * shown (an opened secret, a form sent back): such a page offers no change of language.
   */
  readonly selfPath: string | null;
  readonly user: PageUser | null;
  /** The origin of links to pushes, without a trailing slash. */
  readonly baseUrl: string;
  /** Only the pages that recipients need are served here, so pages link to no other. */
  readonly recipientsOnly: boolean;
  /** What an administrator has to correct in the settings; empty for all others. */
  readonly faults: Faults;
  /** In the order of the links; empty outside of the administration. */
  readonly adminSections: readonly AdminSection[];
  /** The reader may request secrets, so pages link to it. */
  readonly mayRequest: boolean;
  /** Sign-in is enabled on this server, so pages link to it. */
  readonly signIns: boolean;
  /** Users may have passwords: they do not sign in through another service only. */
  readonly passwords: boolean;
  /** Proves to `receiveForm` that a form is from a page of this session; null: there is no session. */
  readonly formToken: string | null;
  readonly assetUrl: AssetUrl;
  readonly assetIntegrity: AssetIntegrity;
  readonly theme: Theme;
  readonly appearance: Config["appearance"];
  /** Version of the application. */
  readonly version: string;
}

const CurrentPage = createContext<PageContext | undefined>(undefined);

/** `Layout` provides its page to every part within it. */
export const PageProvider = CurrentPage.Provider;

/** The page that a part is in. Only for components: a view has its page as a parameter. */
export function usePage(): PageContext {
  const page = useContext(CurrentPage);
  if (page === undefined) throw new Error("A part of a page was rendered outside of a layout.");
  return page;
}

/** The texts of the page that a part is in. */
export function useMessages(): Messages {
  return usePage().messages;
}

/** What the parts of a page get. */
export interface PartProps<Model> {
  readonly model: Model;
}

/** @param address a path or URL, which may have a query and a fragment. Its own `locale`, if it has one, is replaced. */
export function withLocale(address: string, tag: string): string {
  const [, path, query = "", fragment = ""] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(address) ?? [];
  const others = query.split("&").filter((parameter) => parameter !== "" && !parameter.startsWith("locale="));
  return `${path}?${[...others, `locale=${encodeURIComponent(tag)}`].join("&")}${fragment}`;
}

/** The address of one of our own pages; it keeps the `?locale=` of the request. */
export function pageHref(page: Pick<PageContext, "messages" | "localeAsked">, path: string): string {
  return page.localeAsked ? withLocale(path, page.messages.locale.tag) : path;
}
