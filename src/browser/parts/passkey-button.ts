import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

/**
 * An element with `data-passkey` ("create" or "get") contains a button, a hidden field for the passkey's answer, and a
 * status text. `data-options` is the path that returns the WebAuthn options. With `data-send` the answer submits the form;
 * otherwise it replaces the field with the id in `data-instead-of`, and the form waits for its own button. The checkbox with
 * the id in `data-copies` is sent too, although it belongs to another form.
 */
export function enablePasskeyButtons(): void {
  for (const part of document.querySelectorAll<HTMLElement>("[data-passkey]")) {
    const button = part.querySelector("button");
    if (button === null) continue;
    let busy = false;
    button.addEventListener("click", () => {
      if (busy) return;
      busy = true;
      void ask(part).finally(() => {
        busy = false;
      });
    });
    part.hidden = false;
  }
}

async function ask(part: HTMLElement): Promise<void> {
  const field = part.querySelector<HTMLInputElement>("input[type=hidden]");
  const form = part.closest("form");
  if (field === null || form === null) return;
  const sends = part.dataset.send !== undefined;
  if (sends && !form.reportValidity()) return;
  showStatus(part, "");
  try {
    field.value = JSON.stringify(await ceremony(part, form));
  } catch (error) {
    showStatus(part, part.dataset[reasonOf(error)] ?? "");
    return;
  }
  // Without the checks of `requestSubmit`: the fields that the passkey replaces may stay empty.
  if (sends) {
    const box = document.getElementById(part.dataset.copies ?? "");
    if (box instanceof HTMLInputElement && box.checked) field.after(hiddenField(box.name, box.value));
    form.submit();
  } else {
    replaceField(part);
  }
}

function hiddenField(name: string, value: string): HTMLInputElement {
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name, value });
  return field;
}

async function ceremony(part: HTMLElement, form: HTMLFormElement): Promise<unknown> {
  const options = await optionsFor(part.dataset.options ?? "", form);
  return part.dataset.passkey === "create"
    ? startRegistration({ optionsJSON: options })
    : startAuthentication({ optionsJSON: options });
}

async function optionsFor(address: string, form: HTMLFormElement) {
  const token = form.querySelector<HTMLInputElement>("input[name=form_token]");
  const body = new URLSearchParams(token === null ? {} : { form_token: token.value });
  // The redirect after the end of a session leads to a page without options.
  const answer = await fetch(address, { method: "POST", body, redirect: "error" });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.json();
}

/** Selects the message: `data-cancelled`, `data-known` or `data-failed`. */
function reasonOf(error: unknown): "cancelled" | "known" | "failed" {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError" || name === "AbortError") return "cancelled";
  return name === "InvalidStateError" ? "known" : "failed";
}

function replaceField(part: HTMLElement): void {
  const typed = document.getElementById(part.dataset.insteadOf ?? "");
  if (typed instanceof HTMLInputElement) {
    typed.value = "";
    typed.required = false;
    typed.disabled = true;
  }
  const button = part.querySelector("button");
  if (button !== null) button.hidden = true;
  // The focus would be lost with the button.
  part.closest("form")?.querySelector<HTMLElement>("button[type=submit]")?.focus();
  showStatus(part, part.dataset.confirmed ?? "");
}

function showStatus(part: HTMLElement, text: string): void {
  const status = part.querySelector('[role="status"]');
  if (status !== null) status.textContent = text;
}
