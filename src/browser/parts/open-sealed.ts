import { DamagedError, openText, WrongPassphraseError } from "../../age/open.ts";
import { readSealedFiles, type SealedFiles } from "../../age/sealed-files.ts";
import { keyInLink, showState } from "./key-in-link.ts";
import { enableSealedFiles } from "./sealed-files.ts";

/** Opens what the page has received, and shows it like a push that was not sealed. */
export async function openSealed(): Promise<void> {
  const root = document.querySelector<HTMLElement>("[data-sealed]");
  if (root === null) return;
  const key = await keyInLink("");
  if (key.state !== "right") {
    showState(root, key.state);
    return;
  }
  const form = root.querySelector<HTMLFormElement>("form[data-sealed-passphrase]");
  if (form === null) await open(root, key.identity, "");
  else {
    showState(root, "passphrase");
    form.querySelector("input")?.focus();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void open(root, key.identity, form.querySelector("input")?.value ?? "");
    });
  }
}

async function open(root: HTMLElement, identity: string, passphrase: string): Promise<void> {
  const sealed = root.querySelector("#sealed")?.textContent ?? "";
  showState(root, "opening");
  // The page shows that before the work begins, which takes seconds under a passphrase.
  await new Promise((resolve) => setTimeout(resolve, 50));
  let text: string;
  try {
    text = sealed === "" ? "" : await openText(sealed, identity, passphrase);
  } catch (error) {
    if (error instanceof WrongPassphraseError) {
      showState(root, "passphrase");
      root.querySelector("[data-wrong-passphrase]")?.removeAttribute("hidden");
      const field = root.querySelector<HTMLInputElement>("form[data-sealed-passphrase] input");
      field?.setAttribute("aria-invalid", "true");
      field?.focus();
      return;
    }
    if (!(error instanceof DamagedError)) throw error;
    showState(root, "damaged");
    return;
  }
  const files = root.querySelector<HTMLElement>("[data-sealed-files]");
  const content: SealedFiles = (files === null ? undefined : readSealedFiles(text)) ?? {
    text,
    identity: null,
    files: [],
  };
  const payload = root.querySelector("#payload");
  if (payload !== null) payload.textContent = content.text;
  const isEmpty = content.text === "" && files !== null;
  for (const part of root.querySelectorAll<HTMLElement>("[data-opened-text]")) part.hidden = isEmpty;
  root.querySelector("[data-sealed-text]")?.toggleAttribute("hidden", true);
  if (files !== null) enableSealedFiles(files, content, identity);
  showState(root, "opened");
}
