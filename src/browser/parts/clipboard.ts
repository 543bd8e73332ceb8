import { copiedEvent } from "./copy.ts";
import { isChosen, rememberChoice } from "./preferences.ts";

const clearedAfterMs = 60_000;
const key = "sealpush_clear_clipboard";

/**
 * Clears the clipboard some time after a copy, if the reader chooses so. It does not read the clipboard first: browsers ask
 * people before a page may do that.
 */
export function enableClipboardClearing(): void {
  const box = document.getElementById("clear_clipboard");
  const status = document.querySelector<HTMLElement>("[data-clipboard-status]");
  // Exists on secure origins only.
  const { clipboard } = navigator;
  if (!(box instanceof HTMLInputElement) || status === null || clipboard === undefined) return;
  let hasCopied = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const clear = async () => {
    hasCopied = false;
    status.textContent = ((await isCleared(clipboard)) ? status.dataset.cleared : status.dataset.kept) ?? "";
  };
  const schedule = () => {
    clearTimeout(timer);
    status.textContent = "";
    if (hasCopied && box.checked) timer = setTimeout(() => whenFocused(() => void clear()), clearedAfterMs);
  };
  document.addEventListener(copiedEvent, () => {
    hasCopied = true;
    schedule();
  });
  box.addEventListener("change", () => {
    rememberChoice(key, box.checked);
    schedule();
  });
  box.checked = isChosen(key);
  box.closest("label")?.removeAttribute("hidden");
}

/** Browsers let only the window that has the focus write to the clipboard. */
function whenFocused(work: () => void): void {
  if (document.hasFocus()) work();
  else addEventListener("focus", work, { once: true });
}

async function isCleared(clipboard: Clipboard): Promise<boolean> {
  try {
    await clipboard.writeText("");
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}
