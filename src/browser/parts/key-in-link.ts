import { checkOf, type KeyFragment, readFragment, writeFragment } from "@sealpush/age/key-check";
import { showOnly } from "./elements.ts";
import { findStoredKey, readStoredFragment, writeStoredFragment } from "./stored-keys.ts";

/** The key itself, or the one that this browser has stored for a request. */
export interface RightKey extends Pick<KeyFragment, "request"> {
  readonly identity: string | CryptoKey;
}

/** What is known about the key in the address of this page. `insecure`: without HTTPS, browsers offer no cryptography. */
export type KeyInLink = ({ readonly state: "right" } & RightKey) | { readonly state: "missing" | "wrong" | "insecure" };

/** @param check see `EndToEnd.check` of the push; "": it has none. */
export async function keyInLink(check: string): Promise<KeyInLink> {
  if (!isSecureContext) return { state: "insecure" };
  const request = readStoredFragment(location.hash);
  if (request !== undefined) {
    const stored = await findStoredKey(request);
    if (stored === undefined) return { state: "missing" };
    return check === "" || stored.check === check
      ? { state: "right", identity: stored.key, request }
      : { state: "wrong" };
  }
  const found = readFragment(location.hash);
  if (found === undefined) return { state: location.hash.length > 1 ? "wrong" : "missing" };
  return check === "" || (await checkOf(found.identity)) === check ? { state: "right", ...found } : { state: "wrong" };
}

function fragmentOf({ identity, request }: RightKey): string {
  return typeof identity === "string" ? writeFragment({ identity, request }) : writeStoredFragment(request ?? "");
}

/** Shows the element with `data-key-state` of this state among those below `root`. */
export function showState(root: ParentNode, state: string): void {
  showOnly("data-key-state", state, root);
}

/**
 * Before a view is spent: shows the form of the retrieval step only if the link has the right key. The page that answers the
 * form gets the key in its address, because browsers keep it out of the request.
 */
export function checkLinkFirst(): void {
  const root = document.querySelector<HTMLElement>("[data-sealed-step]");
  const form = root?.querySelector("form");
  if (root === null || form === null || form === undefined) return;
  const action = form.getAttribute("action") ?? "";
  const update = async () => {
    const found = await keyInLink(root.dataset.sealedStep ?? "");
    if (found.state === "right") form.setAttribute("action", `${action}#${fragmentOf(found)}`);
    showState(root, found.state);
  };
  // Somebody pastes the whole link over the one that was cut: the browser does not load the page again.
  addEventListener("hashchange", () => void update());
  void update();
}
