import { ClientError } from "./errors.ts";

export interface LinkParts {
  /** The address of the server, without a slash at its end. */
  readonly server: string;
  readonly urlToken: string;
  /** What follows "#"; empty: nothing. */
  readonly fragment: string;
}

const tokenPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** `/p/<token>`, also under older paths, with a language in front, and with the retrieval step behind. */
const linkPath = /^(.*?)\/(?:[a-z]{2}(?:-[A-Za-z]{2,4})?\/)?[pfr]\/([A-Za-z0-9_-]{1,64})(?:\.json|\/r|\/preview)?\/?$/;

/** The link to send, and the private link to the answers. */
const requestPath = /^(.*?)\/requests\/([A-Za-z0-9_-]{1,64})(\/answers)?\/?$/;

/** Punctuation after a link, which chats and mail programs take for a part of it. They also encode its `#`. */
const punctuation = /(?:%[\da-f]{2}|[^\w/-])+$/i;

export interface RequestLinkParts extends LinkParts {
  /** The key of a private link; empty: there is none. */
  readonly fragment: string;
  /** What the link to send has behind "#": the fingerprint of the key to seal for; empty: it does not name the key. */
  readonly fingerprint: string;
}

/** @returns undefined if the text is not the link of a push. */
export function readLink(text: string): LinkParts | undefined {
  return readParts(text, linkPath)?.link;
}

/** @returns undefined if the text is not a link of a request for a secret. */
export function readRequestLink(text: string): RequestLinkParts | undefined {
  const found = readParts(text, requestPath);
  if (found === undefined) return undefined;
  const { link, end } = found;
  return end === "" ? { ...link, fragment: "", fingerprint: link.fragment } : { ...link, fingerprint: "" };
}

function readParts(text: string, path: RegExp): { readonly link: LinkParts; readonly end: string } | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin, pathname, hash } = new URL(text.replace("%23", "#").replace(punctuation, ""));
  const [, folder = "", urlToken, end = ""] = path.exec(pathname) ?? [];
  if ((protocol !== "http:" && protocol !== "https:") || urlToken === undefined) return undefined;
  return { link: { server: `${origin}${folder}`, urlToken, fragment: hash.slice(1) }, end };
}

/** Whether it can name a push or a request. */
export function isLinkOrToken(text: string): boolean {
  return tokenPattern.test(text) || readLink(text) !== undefined || readRequestLink(text) !== undefined;
}

/** @param push a url_token or a link of this server. @throws ClientError invalid. */
export function urlTokenIn(push: string, server: string): string {
  return tokenIn(push, readLink(push), server, "push");
}

/** @param request a url_token or a link of this server. @throws ClientError invalid. */
export function requestTokenIn(request: string, server: string): string {
  return tokenIn(request, readRequestLink(request), server, "request");
}

function tokenIn(text: string, link: LinkParts | undefined, server: string, what: "push" | "request"): string {
  if (tokenPattern.test(text)) return text;
  if (link === undefined) throw new ClientError("invalid", `This is neither the link of a ${what} nor its token.`);
  // The folder in front of the path cannot be distinguished from a language.
  if (new URL(link.server).origin !== new URL(server).origin) {
    throw new ClientError("invalid", `The link belongs to ${link.server} and not to ${server}.`);
  }
  return link.urlToken;
}

/** @returns the address without a slash at its end. @throws ClientError invalid. */
export function serverOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  if (
    url === undefined ||
    !isHttp ||
    url.username !== "" ||
    url.password !== "" ||
    url.search !== "" ||
    url.hash !== ""
  ) {
    throw new ClientError("invalid", "The server's address must have the form https://push.example.com.");
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
