import { DamagedError, openFile, openText, WrongPassphraseError } from "../../age/open.ts";
import { readSealedFiles, type SealedFiles } from "../../age/sealed-files.ts";
import { keyInLink, showState } from "./key-in-link.ts";
import { pageLocale } from "./local-times.ts";
import { SavedFile } from "./saved-file.ts";
import { fillIn, formatSize } from "./sizes.ts";

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
  const files = root.querySelector("[data-sealed-files]");
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
  if (files !== null) enableFiles(files, content, identity);
  showState(root, "opened");
}

function enableFiles(list: Element, content: SealedFiles, linkIdentity: string): void {
  const tag = pageLocale();
  for (const row of list.querySelectorAll<HTMLElement>("[data-sealed-file]")) {
    const stored = row.dataset.sealedFile ?? "";
    const details = content.files.find((file) => file.stored === stored);
    const name = details?.name ?? stored.replace(/\.age$/, "");
    const shown = row.querySelector(".file-name");
    if (shown !== null) shown.textContent = name;
    const size = row.querySelector(".file-size");
    if (size !== null && details !== undefined) size.textContent = formatSize(details.size, tag);
    const link = row.querySelector("a");
    if (link === null) continue;
    link.setAttribute("aria-label", fillIn(row.dataset.label, { filename: name }));
    let isBusy = false;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      if (isBusy) return;
      isBusy = true;
      void save(row, link.href, name, content.identity ?? linkIdentity).finally(() => {
        isBusy = false;
      });
    });
  }
}

/** Loads, opens and saves one file as a stream: no more than a few pieces of it are in memory at a time. */
async function save(row: HTMLElement, href: string, name: string, identity: string): Promise<void> {
  const status = row.querySelector<HTMLElement>('[role="status"]');
  const bar = row.querySelector("progress");
  const say = (template: string | undefined) => {
    if (status !== null) status.textContent = fillIn(template, { filename: name });
  };
  let saved: SavedFile | undefined;
  try {
    saved = await SavedFile.choose(name);
    if (saved === undefined) return;
    say(row.dataset.saving);
    bar?.removeAttribute("hidden");
    const response = await fetch(href);
    if (!response.ok || response.body === null) throw new DamagedError(`The server answered ${response.status}.`);
    const total = Number(response.headers.get("content-length") ?? 0);
    let loaded = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          loaded += piece.length;
          if (bar !== null && total > 0) bar.value = loaded / total;
          controller.enqueue(piece);
        },
      }),
    );
    await (await openFile(counted, identity)).pipeTo(saved.writable);
    saved.finish();
    say(row.dataset.saved);
  } catch {
    // Any failure means the same to the reader: what was written is not the file, and is discarded.
    await saved?.discard();
    say(row.dataset.failed);
  } finally {
    bar?.toggleAttribute("hidden", true);
  }
}
