import { isMac } from "./mac.ts";

/** What a key does on every page of people who are signed in; pages/parts/keys.tsx lists the same. */
const actions: Readonly<Record<string, () => boolean>> = {
  "/": () => focusOn(document.querySelector<HTMLElement>('main input[type="search"]')),
  j: () => move(linksOfRows(), 1),
  k: () => move(linksOfRows(), -1),
  n: () => openNewPush(),
  "?": () => show("[data-keys-list]"),
};

/** Nothing happens while somebody types, or while a dialog is open. */
export function enableKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || isTyping(event.target) || isDialogOpen()) return;
    const { key, ctrlKey, metaKey, altKey } = event;
    const isMenuKey = key.toLowerCase() === "k" && !altKey && (isMac() ? metaKey && !ctrlKey : ctrlKey && !metaKey);
    if (isMenuKey ? show("[data-keys-pages]") : !(ctrlKey || metaKey || altKey) && actions[key]?.() === true) {
      event.preventDefault();
    }
  });
  const button = document.querySelector("[data-shows-keys]");
  button?.addEventListener("click", () => {
    // The menu with the button closes: the focus comes back to what opens the menu.
    button.closest("details")?.querySelector("summary")?.focus();
    show("[data-keys-list]");
  });
}

const isDialogOpen = () => document.querySelector("dialog[open]") !== null;

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit"].includes(target.type);
  return target.isContentEditable || target.matches("textarea, select");
}

/** @returns whether there is such an element. */
function focusOn(element: HTMLElement | null | undefined): boolean {
  element?.focus();
  return element instanceof HTMLElement;
}

/** The first link of each row of a list, which opens what the row is about. */
function linksOfRows(): readonly HTMLElement[] {
  const rows = document.querySelectorAll("main tbody tr, main .rows > .row");
  return [...rows].flatMap((row) => row.querySelector<HTMLElement>("a[href]:not([hidden])") ?? []);
}

/** From the link with the focus, or the row that it is in, to the next; at first to the first one. */
function move(links: readonly HTMLElement[], by: 1 | -1): boolean {
  const row = document.activeElement?.closest("main tbody tr, main .rows > .row, dialog li");
  const at = links.findIndex((link) => row?.contains(link) === true);
  return focusOn(links[at === -1 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1)]);
}

function openNewPush(): boolean {
  const link = contents()?.querySelector<HTMLAnchorElement>("[data-keys-pages] a");
  if (link === null || link === undefined) return false;
  location.assign(link.href);
  return true;
}

const contents = () => document.querySelector<HTMLTemplateElement>("template[data-keys]")?.content;

/** @param selector of a dialog of the template. */
function show(selector: string): boolean {
  const found = contents()?.querySelector(selector);
  if (found === null || found === undefined) return false;
  const dialog = document.importNode(found, true);
  if (!(dialog instanceof HTMLDialogElement)) return false;
  if (isMac()) for (const key of dialog.querySelectorAll("kbd")) if (key.textContent === "Ctrl") key.textContent = "⌘";
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  // A click beside it closes it.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", ({ key }) => {
    const links = [...dialog.querySelectorAll("a")];
    if (key === "ArrowDown" || key === "j") move(links, 1);
    if (key === "ArrowUp" || key === "k") move(links, -1);
  });
  dialog.showModal();
  return true;
}
