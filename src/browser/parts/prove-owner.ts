import { ownerProofOf } from "@sealpush/age/key-check";
import { readLinkKey } from "@sealpush/age/link-key";
import { showOnly } from "./elements.ts";

/**
 * The page before the answers to a request without an account: sends the proof that the private link's key gives. The key
 * stays in the fragment, which browsers keep through the redirect to the answers.
 */
export function proveOwner(): void {
  const form = document.querySelector<HTMLFormElement>("form#prove");
  const field = form?.querySelector<HTMLInputElement>('input[name="owner_proof"]');
  if (form === null || !field) return;
  if (!isSecureContext) {
    showOnly("data-proof", "insecure");
  } else if (wasRedirected()) {
    showOnly("data-proof", "needs-cookies");
  } else {
    const action = form.getAttribute("action") ?? "";
    if (field.dataset.refused === undefined) void prove(form, field, action);
    // The private link may be pasted into the address of this page.
    addEventListener("hashchange", () => void prove(form, field, action));
  }
}

async function prove(form: HTMLFormElement, field: HTMLInputElement, action: string): Promise<void> {
  const key = await readLinkKey(location.hash);
  if (key === undefined) {
    showOnly("data-proof", "incomplete");
    return;
  }
  field.value = await ownerProofOf(key.identity);
  form.setAttribute("action", `${action}#${key.identity}`);
  form.submit();
}

/** The server has just accepted the proof, and led here again: the browser has not kept its cookie. */
function wasRedirected(): boolean {
  const [navigation] = performance.getEntriesByType("navigation");
  return navigation instanceof PerformanceNavigationTiming && navigation.redirectCount > 0;
}
