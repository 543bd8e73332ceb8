import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

/**
 * An element with `data-passkey` holds a button, a hidden field for what the passkey answers, and a place to tell what
 * came of it. `data-passkey`: "create" makes one, "get" uses one. `data-options`: where the server says what it asks.
 * `data-send`: the form is sent with the answer; else the answer stands in for the form's field of that id
 * (`data-instead-of`), and the form waits for its own button.
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
  tell(part, "");
  try {
    field.value = JSON.stringify(await ceremony(part, form));
  } catch (error) {
    tell(part, part.dataset[reasonOf(error)] ?? "");
    return;
  }
  // Straight, not through a button: the form was checked above, and what a passkey answers for may stay empty.
  if (sends) form.submit();
  else standIn(part);
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
  // A session that has ended is sent elsewhere: that page says nothing to us.
  const answer = await fetch(address, { method: "POST", body, redirect: "error" });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.json();
}

/** Which sentence tells of it: `data-cancelled`, `data-known` or `data-failed`. */
function reasonOf(error: unknown): "cancelled" | "known" | "failed" {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError" || name === "AbortError") return "cancelled";
  return name === "InvalidStateError" ? "known" : "failed";
}

function standIn(part: HTMLElement): void {
  const typed = document.getElementById(part.dataset.insteadOf ?? "");
  if (typed instanceof HTMLInputElement) {
    typed.value = "";
    typed.required = false;
    typed.disabled = true;
  }
  const button = part.querySelector("button");
  if (button !== null) button.hidden = true;
  tell(part, part.dataset.confirmed ?? "");
}

function tell(part: HTMLElement, text: string): void {
  const status = part.querySelector('[role="status"]');
  if (status !== null) status.textContent = text;
}
