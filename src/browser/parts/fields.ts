import { say } from "./elements.ts";
import { pageLocale } from "./local-times.ts";
import { isMac } from "./mac.ts";
/** A field with `data-select` selects itself when it gets the focus. */
export function enableSelectOnFocus(): void {
  for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("[data-select]")) {
    field.addEventListener("focus", () => field.select());
  }
}

/** Buttons with `data-show` show and hide the value of the password field with that id. */
export function enableShowButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-show]")) {
    const field = document.getElementById(button.dataset.show ?? "");
    const label = button.querySelector("[data-show-label]");
    if (!(field instanceof HTMLInputElement) || label === null) continue;
    const labels = { password: label.textContent, text: button.dataset.labelHide ?? "" };
    new MutationObserver(() => {
      const shown = field.type === "text";
      label.textContent = shown ? labels.text : labels.password;
    }).observe(field, { attributeFilter: ["type"] });
    button.addEventListener("click", () => {
      field.type = field.type === "text" ? "password" : "text";
      field.focus();
    });
    // The browser would remember the value of a text field.
    field.form?.addEventListener("submit", () => {
      field.type = "password";
    });
  }
}

// Longer than any double click, short enough that a cancelled request can be sent again.
const sentForMs = 3_000;

/**
 * Sends a form once: a second click on "open" would claim a second view, or find a push with one view gone. `send.ts` does so
 * for forms that stay.
 */
export function sendFormsOnce(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[method="post"]:not([data-keeps-typed])')) {
    let sent = false;
    const forget = () => {
      sent = false;
    };
    form.addEventListener("submit", (event) => {
      if (sent) event.preventDefault();
      else setTimeout(forget, sentForMs);
      sent = true;
    });
    addEventListener("pageshow", forget);
  }
}

/** Ctrl+Enter or Cmd+Enter in a form whose button has `data-sends-by-keys` presses that button. */
export function sendByKeys(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-sends-by-keys]")) {
    button.form?.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      if (button.checkVisibility()) button.form?.requestSubmit(button);
    });
    const shown = button.querySelector(".key-hint");
    if (isMac() && shown !== null) shown.textContent = "⌘ ↵";
  }
}

/** The number of days and the exact end count only where they are chosen; otherwise nothing in them can be invalid. */
export function enableExpiry(root: ParentNode): void {
  const time = root.querySelector("#push_expire_after_duration");
  if (!(time instanceof HTMLSelectElement)) return;
  const input = (name: string) => root.querySelector<HTMLInputElement>(`#push_${name}`);
  const choices = [
    { choice: "", field: input("expire_after_days") },
    { choice: "at", field: input("expires_at") },
    { choice: "at", field: input("time_zone") },
  ];
  const update = () => {
    for (const { choice, field } of choices) if (field !== null) field.disabled = time.value !== choice;
  };
  const zone = input("time_zone");
  if (zone !== null) zone.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
  time.addEventListener("change", update);
  // The browser may restore the choice after this script ran.
  addEventListener("pageshow", update);
  update();
}

/** Counts code points, as the server does. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** From this part of the limit on, the count is shown. */
const nearLimit = 0.9;

/** Live counts beside their fields near the limit; screen readers announce only that it is exceeded. */
export function enableCounters(root: ParentNode): void {
  for (const counter of root.querySelectorAll<HTMLElement>("[data-counter-of]")) {
    const field = document.getElementById(counter.dataset.counterOf ?? "");
    const number = counter.querySelector("[data-counter-number]");
    const over = counter.querySelector('[role="status"]');
    if (!(field instanceof HTMLTextAreaElement) || number === null || over === null) continue;
    const limit = Number(counter.dataset.limit);
    const format = new Intl.NumberFormat(pageLocale());
    const update = () => {
      const count = countCharacters(field.value);
      number.textContent = `${format.format(count)} / ${format.format(limit)}`;
      say(over, count > limit ? (counter.dataset.over ?? "") : "");
      counter.toggleAttribute("data-exceeded", count > limit);
      counter.hidden = count < limit * nearLimit;
    };
    field.addEventListener("input", update);
    update();
  }
}
