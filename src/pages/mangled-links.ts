/** A link, and what a program has made of its end: an encoded `#`, or punctuation. */
const mangled =
  /^(\/(?:[pfr]|requests)\/[\w-]{1,64}(?:\/(?:r|answers))?(?:\?locale=[\w-]+)?)(?:%23(.+)|(?:%[\dA-Fa-f]{2}|[^\w/?&=-])+)$/;

/**
 * Chats and mail programs take the full stop or bracket after a link into it, and some encode its `#`.
 * @param url a path with its query. @returns the address of the link; undefined: this is no such link.
 */
export function findMangledLink(url: string): string | undefined {
  const [, link, fragment] = mangled.exec(url) ?? [];
  return link === undefined || fragment === undefined ? link : `${link}#${fragment}`;
}
