import { findIdentity } from "@sealpush/age/key-check";
import { withTabStorage } from "./tab-storage.ts";

/**
 * The key of a link that was just sealed in this tab, in the storage of the tab: the page of the link can be reloaded until
 * somebody has the link. The name has the url_token, so that another push never gets it.
 */
const nameStart = "sealpush_link_key ";
const nameOf = (previewPath: string) => nameStart + previewPath.split("/")[2];

/** @param previewPath of the page of the link. @returns whether it is stored. */
export function keepLinkKey(previewPath: string, identity: string): boolean {
  const stored = withTabStorage((storage) => {
    storage.setItem(nameOf(previewPath), identity);
    return true;
  });
  return stored ?? false;
}

export function forgetLinkKey(previewPath: string): void {
  withTabStorage((storage) => storage.removeItem(nameOf(previewPath)));
}

/** Removes all of this tab. */
export function forgetLinkKeys(): void {
  withTabStorage((storage) => {
    for (const name of Object.keys(storage)) if (name.startsWith(nameStart)) storage.removeItem(name);
  });
}

/**
 * The key for the page of a link. One in the address is stored and taken out of the address at once, so that it is not in the
 * history.
 * @returns undefined: this tab has none.
 */
export function takeLinkKey(): string | undefined {
  const given = findIdentity(location.hash);
  if (given !== undefined) {
    keepLinkKey(location.pathname, given);
    history.replaceState(history.state, "", location.pathname + location.search);
    return given;
  }
  return withTabStorage((storage) => storage.getItem(nameOf(location.pathname))) ?? undefined;
}
