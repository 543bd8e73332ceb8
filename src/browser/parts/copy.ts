const shownMs = 2_500;
/** A button has copied its text to the clipboard. */
export const copiedEvent = "sealpush:copied";

/** Buttons with `data-copy` copy the element with that id and announce the result. */
export function enableCopyButtons(root: ParentNode = document): void {
  for (const button of root.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.addEventListener("click", () => void copyFor(button));
  }
}

async function copyFor(button: HTMLButtonElement): Promise<void> {
  const source = document.getElementById(button.dataset.copy ?? "");
  if (source === null) return;
  const copied = await write(exactTextOf(source));
  if (copied) button.dispatchEvent(new Event(copiedEvent, { bubbles: true }));
  else select(source);
  announce(button, copied);
}

/** `navigator.clipboard` exists on secure origins only; on other origins the older command still works. */
async function write(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
    }
  }
  return writeByCommand(text);
}

function writeByCommand(text: string): boolean {
  const focused = document.activeElement;
  const carrier = document.createElement("textarea");
  carrier.value = text;
  carrier.className = "visually-hidden";
  document.body.append(carrier);
  carrier.select();
  const copied = document.execCommand("copy");
  carrier.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}

function select(source: HTMLElement): void {
  if (source instanceof HTMLInputElement || source instanceof HTMLTextAreaElement) {
    source.select();
    return;
  }
  // What is not shown cannot be selected.
  const veil = source.closest("details");
  if (veil !== null) veil.open = true;
  document.getSelection()?.selectAllChildren(source);
}

/**
 * The element with the role "status" beside the button, or beside the card of its list, shows the text from the data attributes of the
 * button, or of the list.
 */
function announce(button: HTMLElement, copied: boolean): void {
  const list = button.closest<HTMLElement>("table[data-copied]");
  const status = (list?.parentElement ?? button).parentElement?.querySelector<HTMLElement>(':scope > [role="status"]');
  if (status === null || status === undefined) return;
  const { copied: done, copyByHand } = (list ?? button).dataset;
  status.textContent = (copied ? done : copyByHand) ?? "";
  button.dataset.done = String(copied);
  setTimeout(() => {
    status.textContent = "";
    delete button.dataset.done;
  }, shownMs);
}

/**
 * Links with `data-copy-link` lead to a page that shows a link to copy; the script copies that link at once instead. In a list,
 * the link is put together from the list's `data-link-base`, the path of that page and `data-link-end`. If the browser refuses,
 * the page is opened.
 */
export function enableCopyLinks(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-copy-link], a[data-link-end]")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      void copyOrFollow(link);
    });
  }
}

async function copyOrFollow(link: HTMLAnchorElement): Promise<void> {
  const { copyLink, linkEnd } = link.dataset;
  const base = link.closest<HTMLElement>("[data-link-base]")?.dataset.linkBase;
  const listed = `${base}${new URL(link.href).pathname.replace(/\/preview$/, "")}${linkEnd}`;
  if (await write(copyLink ?? listed)) announce(link, true);
  else location.assign(link.href);
}

/** Buttons with `data-save` save the element with that id as a file, without a request to the server. */
export function enableSaveButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-save]")) {
    button.addEventListener("click", () => {
      const source = document.getElementById(button.dataset.save ?? "");
      if (source !== null) save(exactTextOf(source), button.dataset.filename ?? "secret.txt");
    });
  }
}

function save(text: string, filename: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = filename;
  link.click();
  // By the next task the download holds the blob itself; the object URL must not keep the secret alive.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}

/** The text of a field or of a secret, exactly as it was sent. See ExactText in src/pages. */
function exactTextOf(element: HTMLElement): string {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return element.value;
  const base64 = element.dataset.exactBase64;
  if (base64 === undefined) return element.textContent ?? "";
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
