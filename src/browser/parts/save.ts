import { exactTextOf } from "./exact-text.ts";

/** Buttons with `data-save` offer the element of that id as a file; nothing leaves the browser for it. */
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
  // The download has taken its own hold of the blob by the next turn; the address must not keep the secret alive.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}
