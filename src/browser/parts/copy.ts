import { exactTextOf } from "./exact-text.ts";

const shownMs = 2_500;

/** Buttons with `data-copy` copy the element of that id and say what came of it. */
export function enableCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.addEventListener("click", () => void copyFor(button));
  }
}

async function copyFor(button: HTMLButtonElement): Promise<void> {
  const source = document.getElementById(button.dataset.copy ?? "");
  if (source === null) return;
  const copied = await write(exactTextOf(source));
  if (!copied) select(source);
  tell(button, copied);
}

/** The clipboard interface exists on secure origins only; elsewhere the old command still does it. */
export async function write(text: string): Promise<boolean> {
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
  document.getSelection()?.selectAllChildren(source);
}

/** The button says in its data what it tells, in the element with the role "status" beside it. */
export function tell(button: HTMLElement, copied: boolean): void {
  const status = button.parentElement?.querySelector<HTMLElement>('[role="status"]');
  if (status === null || status === undefined) return;
  status.textContent = (copied ? button.dataset.copied : button.dataset.copyByHand) ?? "";
  button.dataset.done = String(copied);
  setTimeout(() => {
    status.textContent = "";
    delete button.dataset.done;
  }, shownMs);
}
