import { findIdentity } from "@sealpush/age/key-check";
import { DamagedError, openText } from "@sealpush/age/open";
import { type LabelKind, readLabel, UnexpectedContentError } from "@sealpush/age/sealed-content";
import { takeLinkKey } from "./kept-link-key.ts";

/**
 * Opens the names and notes that were sealed with a push, on pages of its owner that have the key in their address, and on
 * the page of the link. The key is taken out of the address, so that it is not in the history.
 */
export function openSealedLabels(): void {
  if (document.querySelector("[data-sealed-label]") === null) return;
  const open = () => {
    const isLinkPage = document.querySelector("[data-sealed-link]") !== null;
    const identity = isLinkPage ? takeLinkKey() : findIdentity(location.hash);
    if (identity === undefined) return;
    history.replaceState(history.state, "", location.pathname + location.search);
    void openAll(identity);
  };
  // Somebody adds the key to the address: the browser does not load the page again.
  addEventListener("hashchange", open);
  open();
}

async function openAll(identity: string): Promise<void> {
  const status = document.querySelector<HTMLElement>("[data-sealed-labels]");
  for (const element of document.querySelectorAll<HTMLElement>("[data-sealed-label]")) {
    const is: LabelKind = element.dataset.labelKind === "note" ? "note" : "name";
    try {
      element.textContent = readLabel(await openText(element.dataset.sealedLabel ?? "", identity, ""), is);
      element.classList.remove("no-name");
      status?.replaceChildren();
    } catch (error) {
      if (!(error instanceof DamagedError || error instanceof UnexpectedContentError)) throw error;
      status?.replaceChildren(status.dataset.sealedLabels ?? "");
      return;
    }
  }
}
