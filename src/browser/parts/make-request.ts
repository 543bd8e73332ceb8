import { isWeakPassphrase } from "@sealpush/age/guessable";
import { fingerprintOf, ownerProofOf } from "@sealpush/age/key-check";
import { makeLinkKey } from "@sealpush/age/link-key";
import { sealUnderPassphrase } from "@sealpush/age/seal";
import { keepRequestKey } from "./keep-request-key.ts";

/**
 * The form of a new request: makes its key. The server gets the public part, and with a passphrase the identity sealed under
 * it. Without one the identity goes into the fragment of the form's address: browsers keep that out of the request and
 * add it to the address that the answer leads to. With one, the fingerprint goes there, so that the page that follows shows
 * the one of this key, whatever the server says.
 */
export function makeRequestKey(): void {
  const form = document.querySelector<HTMLFormElement>("form#request");
  const passphrase = form?.querySelector<HTMLInputElement>("#key_passphrase");
  const button = form?.querySelector<HTMLButtonElement>('button[type="submit"]');
  if (form === null || !button) return;
  document.querySelector<HTMLElement>("[data-needs-script]")?.setAttribute("hidden", "");
  if (!isSecureContext) {
    document.querySelector<HTMLElement>("[data-insecure]")?.removeAttribute("hidden");
    button.disabled = true;
    return;
  }
  const action = form.getAttribute("action") ?? "";
  let isMaking = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (isMaking || (passphrase && !isAccepted(passphrase))) return;
    isMaking = true;
    void make().then(() => form.submit());
  });
  // After going back, another request needs another key.
  addEventListener("pageshow", () => {
    isMaking = false;
  });

  async function make(): Promise<void> {
    const key = await makeLinkKey();
    await keepRequestKey(key, null);
    const typed = passphrase?.value ?? "";
    setField(form, "recipient", key.recipient);
    setField(form, "encryption_check", key.check);
    setField(form, "owner_proof", await ownerProofOf(key.identity));
    setField(form, "identity_sealed", typed === "" ? "" : await sealUnderPassphrase(key.identity, typed));
    form?.setAttribute(
      "action",
      typed === "" ? `${action}#${key.identity}` : `${action}#${await fingerprintOf(key.recipient)}`,
    );
  }
}

/** Says at the field if the passphrase can be guessed. */
function isAccepted(passphrase: HTMLInputElement): boolean {
  const isWeak = passphrase.value !== "" && isWeakPassphrase(passphrase.value);
  document.querySelector("[data-weak-passphrase]")?.toggleAttribute("hidden", !isWeak);
  passphrase.setAttribute("aria-invalid", String(isWeak));
  if (isWeak) passphrase.focus();
  return !isWeak;
}

function setField(form: HTMLFormElement | null, name: string, value: string): void {
  const field = form?.elements.namedItem(name);
  if (field instanceof HTMLInputElement) field.value = value;
}
