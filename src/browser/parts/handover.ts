import { say } from "./elements.ts";
import { askServer, pollWhileVisible } from "./polling.ts";

/** Parts of the page of a link: sharing its message, its language, and whether it was opened. */

function messageOf(id: string | undefined): HTMLTextAreaElement | null {
  const field = document.getElementById(id ?? "");
  return field instanceof HTMLTextAreaElement ? field : null;
}

/** A button has shared its text: the person has chosen where it goes. */
export const sharedEvent = "sealpush:shared";

/** Buttons with `data-share` share the text of that field, where the browser can. */
export function enableShareButtons(): void {
  if (typeof navigator.share !== "function") return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-share]")) {
    const field = messageOf(button.dataset.share);
    if (field === null) continue;
    button.hidden = false;
    button.addEventListener("click", () => void share(button, field.value));
  }
}

async function share(button: HTMLElement, text: string): Promise<void> {
  try {
    await navigator.share({ text });
    button.dispatchEvent(new Event(sharedEvent, { bubbles: true }));
  } catch (error) {
    // The person has closed the sheet, or the browser has none for this text: the message can still be copied.
    if (!(error instanceof DOMException)) throw error;
  }
}

/** Links with `data-mails` open an email with the text of that field, as it is then. */
export function enableMailLinks(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-mails]")) {
    const field = messageOf(link.dataset.mails);
    if (field === null) continue;
    field.addEventListener("input", () => {
      const body = encodeURIComponent(field.value.replaceAll("\n", "\r\n"));
      link.href = link.href.replace(/&body=.*$/, `&body=${body}`);
    });
  }
}

/**
 * A choice with `data-replaces-parts` takes the parts of the page (`data-part`) from the page that its form leads to. What
 * somebody has typed stays, with the new link.
 */
export function enableReplacingChoices(): void {
  for (const choice of document.querySelectorAll<HTMLSelectElement>("select[data-replaces-parts]")) {
    let latest = 0;
    choice.addEventListener("change", () => {
      latest += 1;
      const asked = latest;
      void replaceParts(choice, () => asked === latest);
    });
  }
}

/** Before parts are taken from another page: what only this one has can be added to it. Its detail is that page. */
export const replacingEvent = "sealpush:replacing";

async function replaceParts(choice: HTMLSelectElement, isLatest: () => boolean): Promise<void> {
  const { form } = choice;
  if (form === null) return;
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value !== "") address.searchParams.set(name, value);
  }
  const response = await fetch(address);
  if (!response.ok || response.redirected) {
    // The key of a sealed link is only in this page: it stays, with the language that it has.
    if (document.querySelector("[data-sealed-link]") === null) form.submit();
    else choice.value = new URLSearchParams(location.search).get(choice.name) ?? "";
    return;
  }
  const other = new DOMParser().parseFromString(await response.text(), "text/html");
  if (!isLatest()) return;
  document.dispatchEvent(new CustomEvent(replacingEvent, { detail: other }));
  const links = [document, other].map((page) => page.querySelector<HTMLInputElement>("input#link")?.value ?? "");
  const parts = [...document.querySelectorAll<HTMLElement>("[data-part]")];
  for (const part of parts) {
    const fresh = other.getElementById(part.id);
    if (fresh !== null) replacePart(part, fresh, links[0] ?? "", links[1] ?? "");
  }
  // Afterwards, because links that depend on a field are among the parts.
  for (const part of parts) part.dispatchEvent(new Event("input"));
  history.replaceState(null, "", address);
}

function replacePart(part: HTMLElement, fresh: HTMLElement, oldLink: string, newLink: string): void {
  if (part instanceof HTMLTextAreaElement && fresh instanceof HTMLTextAreaElement) {
    const isEdited = part.value !== part.defaultValue;
    part.value = isEdited ? part.value.replaceAll(oldLink, newLink) : fresh.value;
    if (!isEdited) {
      part.defaultValue = fresh.value;
      part.lang = fresh.lang;
      part.dir = fresh.dir;
    }
  } else if (part instanceof HTMLInputElement && fresh instanceof HTMLInputElement) {
    part.value = fresh.value;
  } else if (part instanceof HTMLAnchorElement && fresh instanceof HTMLAnchorElement) {
    part.href = fresh.href;
  } else {
    part.lang = fresh.lang;
    part.dir = fresh.dir;
    part.replaceChildren(...fresh.childNodes);
  }
}

/** `data-opened` is the address of the current text. */
export function watchOpened(): void {
  const status = document.querySelector<HTMLElement>("[data-opened]");
  if (status !== null) pollWhileVisible(() => refreshOpened(status));
}

/** @returns whether the text will not change any more, or cannot be read any more. */
async function refreshOpened(status: HTMLElement): Promise<boolean> {
  const response = await askServer(status.dataset.opened ?? "");
  if (response === null) return false;
  if (response === undefined) return true;
  const answer: { readonly text: string; readonly final: boolean; readonly delivery?: string } = await response.json();
  if (answer.delivery !== undefined) say(document.querySelector("[data-delivery]"), answer.delivery);
  say(status, answer.text);
  return answer.final;
}
