import { fingerprintOf, readFingerprint, writeFragment } from "@sealpush/age/key-check";
import { readLinkKey } from "@sealpush/age/link-key";
import { openIdentity, WrongPassphraseError } from "@sealpush/age/open";
import { showOnly } from "./elements.ts";
import { keepRequestKey } from "./keep-request-key.ts";
import { bindStoredKey, writeStoredFragment } from "./stored-keys.ts";

/**
 * The page of a request's answers: adds the key to their links. It is in the private link, behind `#`, or opens with the
 * passphrase, or is stored in this browser. It never leaves this browser.
 */
export async function findRequestKey(): Promise<void> {
  const root = document.querySelector<HTMLElement>("[data-encryption-check]");
  if (root === null) return;
  const fingerprint = readFingerprint(location.hash);
  if (fingerprint !== undefined) nameKey(fingerprint);
  const check = root.dataset.encryptionCheck ?? "";
  const sealed = root.dataset.identitySealed ?? "";
  if (isSecureContext && (await unlock(root, check, location.hash))) {
    const field = document.querySelector<HTMLInputElement>("#private_link");
    if (field !== null) field.value = location.href;
    return;
  }
  const stored = await bindStoredKey(check, requestOfPage());
  if (stored !== undefined) {
    nameKey(stored.fingerprint);
    offerAnswers(root, writeStoredFragment(requestOfPage()));
    show("stored");
    sayStored();
    return;
  }
  show("missing");
  const form = root.querySelector<HTMLFormElement>("form[data-unlock]");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    void unlockWith(form, root, check, sealed);
  });
}

async function unlockWith(form: HTMLFormElement, root: HTMLElement, check: string, sealed: string): Promise<void> {
  const input = form.querySelector<HTMLInputElement>("#unlock_passphrase");
  const problem = form.querySelector<HTMLElement>("[data-wrong-passphrase]");
  const status = root.querySelector<HTMLElement>("[data-request-key-status]");
  if (input === null || problem === null || status === null) return;
  problem.hidden = true;
  status.textContent = status.dataset.unlocking ?? "";
  // The page shows that it works before the work begins, which takes seconds.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const isOpen = await openIdentity(sealed, input.value).then(
    (identity) => unlock(root, check, identity),
    (error: unknown) => {
      if (error instanceof WrongPassphraseError) return false;
      throw error;
    },
  );
  status.textContent = isOpen ? (status.dataset.unlocked ?? "") : "";
  status.classList.toggle("visually-hidden", !isOpen);
  problem.hidden = isOpen;
  if (isOpen) input.value = "";
  else input.focus();
}

/** @param text the fragment of the address, or an identity. @returns whether it is the key of this request. */
async function unlock(root: HTMLElement, check: string, text: string): Promise<boolean> {
  const key = await readLinkKey(text);
  if (key === undefined || key.check !== check) return false;
  nameKey(await fingerprintOf(key.recipient));
  const request = requestOfPage();
  offerAnswers(root, writeFragment({ identity: key.identity, request }));
  // Their answers lead back to this page, which needs the key again.
  for (const form of document.querySelectorAll<HTMLFormElement>("[data-keeps-key] form")) {
    form.setAttribute("action", `${form.getAttribute("action")}#${key.identity}`);
  }
  show("found");
  if (await keepRequestKey(key, request)) sayStored();
  return true;
}

const requestOfPage = () => location.pathname.split("/").at(-2) ?? "";

/** @param fragment names this request: an answer that names another one is not opened. */
function offerAnswers(root: HTMLElement, fragment: string): void {
  for (const link of root.querySelectorAll<HTMLAnchorElement>("a[data-answer-link]")) {
    link.hash = fragment;
    link.hidden = false;
  }
}

function sayStored(): void {
  document.querySelector("[data-key-here]")?.removeAttribute("hidden");
}

/** The link to send names the key of this request, whatever the server says. */
function nameKey(fingerprint: string): void {
  const field = document.querySelector<HTMLInputElement>("#link");
  if (field !== null) field.value = `${field.value.replace(/#.*/, "")}#${fingerprint}`;
}

function show(state: "found" | "stored" | "missing"): void {
  showOnly("data-request-key", state);
}
