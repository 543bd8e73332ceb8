import { DamagedError, openFile } from "@sealpush/age/open";
import type { SealedFileDetails } from "@sealpush/age/sealed-content";
import { mayBeViewable, viewableTypeOf } from "../../base/viewable-type.ts";
import { zip, zipNames } from "../../base/zip.ts";
import { crc32 } from "./crc32.ts";
import { pageLocale } from "./local-times.ts";
import { SavedFile } from "./saved-file.ts";
import { fillIn, formatSize } from "./sizes.ts";

/** A sealed file with its real name. */
interface SealedFile {
  readonly href: string;
  readonly name: string;
  readonly identity: string | CryptoKey;
  /** As its sender said. "": unknown. */
  readonly type: string;
  /** The bytes of the file itself; undefined: somebody has sealed it without a list, so that nothing says how many it must have. */
  readonly sealedSize: number | undefined;
  /** The bytes that are expected: without a list, those of the sealed file. */
  readonly size: number;
}

/** A file as the page shows it before it is opened. */
interface FileRow {
  readonly element: HTMLElement;
  readonly link: HTMLAnchorElement;
  /** The name under which it is stored. */
  readonly stored: string;
  /** The size of the sealed file. */
  readonly bytes: number;
}

/** @param section null: the page has no files. */
export function fileRowsIn(section: HTMLElement | null): readonly FileRow[] {
  return [...(section?.querySelectorAll<HTMLElement>("[data-sealed-file]") ?? [])].flatMap((element) => {
    const link = element.querySelector("a");
    const { sealedFile: stored = "", bytes } = element.dataset;
    return link === null ? [] : [{ element, link, stored, bytes: Number(bytes) }];
  });
}

/** Pictures and texts of more bytes can only be saved: what is shown is in memory. */
const pictureBytesMax = 16 * 1024 ** 2;
const textBytesMax = 1024 ** 2;
const shownBytesMax = (type: string) => (type.startsWith("image/") ? pictureBytesMax : textBytesMax);

/**
 * Gives the files their real names and their order in the list, and lets them be saved and looked at.
 * @param list null: somebody has sealed them without one, for the identity of the link.
 */
export function enableSealedFiles(
  section: HTMLElement,
  list: readonly SealedFileDetails[] | null,
  linkIdentity: string | CryptoKey,
): void {
  const tag = pageLocale();
  const placeOf = ({ stored }: FileRow) => list?.findIndex((file) => file.stored === stored) ?? 0;
  const rows = [...fileRowsIn(section)].sort((a, b) => placeOf(a) - placeOf(b));
  const files = rows.map(({ element: row, link, stored, bytes }) => {
    const details = list?.find((file) => file.stored === stored);
    const file = {
      href: link.href,
      name: details?.name ?? stored.replace(/\.age$/, ""),
      identity: details?.identity ?? linkIdentity,
      type: details?.type ?? "",
      sealedSize: details?.size,
      size: details?.size ?? bytes,
    };
    row.parentElement?.append(row);
    for (const element of row.querySelectorAll("[data-file-name]")) element.replaceChildren(file.name);
    if (details !== undefined) row.querySelector("[data-file-size]")?.replaceChildren(formatSize(file.size, tag));
    const work = new Work(row, section.dataset, file.name);
    if (link.hasAttribute("aria-label")) {
      link.setAttribute("aria-label", fillIn(section.dataset.download, { filename: file.name }));
    }
    link.addEventListener("click", (event) => {
      event.preventDefault();
      work.start(() => save(work, (opened) => piecesOf(file, opened), file.size));
    });
    enableLook(row, section.dataset, file, work);
    return file;
  });
  // An archive needs to know the sizes of its files.
  if (files.length > 1 && list !== null) enableSaveAll(section, files, tag);
}

function enableSaveAll(section: HTMLElement, files: readonly SealedFile[], tag: string): void {
  const part = section.querySelector<HTMLElement>("[data-save-all]");
  if (part === null) return;
  part.hidden = false;
  const total = files.reduce((sum, { size }) => sum + size, 0);
  part.querySelector("button .size")?.replaceChildren(formatSize(total, tag));
  const names = zipNames(files.map(({ name }) => name));
  const archive = (opened: Opened) => {
    const entries = files.map((file, at) => ({
      name: names[at] ?? "",
      sizeBytes: file.size,
      read: () => piecesOf(file, opened),
    }));
    return zip(entries, Date.now(), crc32);
  };
  const work = new Work(part, section.dataset, "files.zip");
  part.querySelector("button")?.addEventListener("click", () => work.start(() => save(work, archive, total)));
}

/** Called with the number of further bytes that are open. */
type Opened = (bytes: number) => void;

/** What is done with one file at a time, with the elements that say so. */
class Work {
  readonly name: string;
  readonly #status: Element | null;
  readonly #bar: HTMLProgressElement | null;
  readonly #texts: DOMStringMap;
  #isBusy = false;

  constructor(root: Element, texts: DOMStringMap, name: string) {
    this.name = name;
    this.#texts = texts;
    this.#status = root.querySelector('[role="status"]');
    this.#bar = root.querySelector("progress");
  }

  /** Does nothing while something else is done. */
  start(action: () => Promise<void>): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    void action().finally(() => {
      this.#isBusy = false;
      this.#bar?.toggleAttribute("hidden", true);
    });
  }

  /** @param text the key of a text among the section's data attributes; "": none. */
  say(text: string, values: Readonly<Record<string, string>> = {}): void {
    this.#status?.replaceChildren(fillIn(this.#texts[text], { filename: this.name, ...values }));
  }

  /** @returns what shows how much of `total` bytes is open. */
  showProgress(total: number): Opened {
    this.say("saving");
    this.#bar?.removeAttribute("hidden");
    let sum = 0;
    return (bytes) => {
      sum += bytes;
      if (this.#bar !== null) this.#bar.value = total === 0 ? 1 : sum / total;
    };
  }
}

/** Loads and opens the file as a stream: no more than a few pieces of it are in memory at a time. */
async function* piecesOf(file: SealedFile, opened: Opened): AsyncGenerator<Uint8Array, void> {
  const response = await fetch(file.href);
  if (!response.ok || response.body === null) throw new DamagedError(`The server answered ${response.status}.`);
  const reader = (await openFile(response.body, file.identity, file.sealedSize)).getReader();
  let isEnd = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isEnd = done;
      if (done) return;
      opened(value.length);
      yield value;
    }
  } finally {
    // A stream that has failed has ended the download already.
    if (!isEnd) await reader.cancel().catch(() => undefined);
  }
}

async function save(work: Work, read: (opened: Opened) => AsyncIterable<Uint8Array>, total: number): Promise<void> {
  let saved: SavedFile | undefined;
  try {
    saved = await SavedFile.choose(work.name);
    if (saved === undefined) return;
    const opened = work.showProgress(total);
    const writer = saved.writable.getWriter();
    try {
      for await (const piece of read(opened)) await writer.write(piece);
      await writer.close();
    } finally {
      writer.releaseLock();
    }
    saved.finish();
    work.say("saved");
  } catch {
    // Any failure means the same to the reader: what was written is not the file, and is discarded.
    await saved?.discard();
    work.say("failed");
  }
}

function enableLook(row: HTMLElement, texts: DOMStringMap, file: SealedFile, work: Work): void {
  const button = row.querySelector("button");
  const box = row.querySelector<HTMLElement>("[data-looked]");
  if (button === null || box === null || !mayBeViewable(file.type)) return;
  const bytesMax = shownBytesMax(file.type);
  if (file.size > bytesMax) {
    work.say("tooLarge", { max: formatSize(bytesMax, pageLocale()) });
    return;
  }
  button.hidden = false;
  button.setAttribute("aria-label", fillIn(texts.look, { filename: file.name }));
  box.setAttribute("aria-label", file.name);
  const show = (content: readonly HTMLElement[]) => {
    box.replaceChildren(...content);
    box.hidden = content.length === 0;
    button.setAttribute("aria-expanded", String(content.length > 0));
  };
  button.addEventListener("click", () =>
    work.start(async () => {
      if (!box.hidden) return show([]);
      try {
        const shown = await shownContent(file, work.showProgress(file.size));
        work.say(shown === undefined ? "notShown" : "");
        if (shown !== undefined) show([shown]);
      } catch {
        work.say("lookFailed");
      }
    }),
  );
}

/**
 * The file as an element in which nothing runs: a picture, or a text that is not parsed. Its content decides, not what the
 * sender says.
 * @returns undefined: it is neither, or too large.
 */
async function shownContent(file: SealedFile, opened: Opened): Promise<HTMLElement | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const piece of piecesOf(file, opened)) {
    bytes += piece.length;
    if (bytes > pictureBytesMax) return undefined;
    pieces.push(new Uint8Array(piece));
  }
  const type = viewableTypeOf(pieces[0] ?? new Uint8Array());
  if (type === undefined || bytes > shownBytesMax(type)) return undefined;
  const content = new Blob(pieces, { type });
  if (!type.startsWith("image/")) {
    const text = document.createElement("pre");
    text.className = "exact-text";
    text.dir = "auto";
    text.textContent = await content.text();
    return text;
  }
  const picture = document.createElement("img");
  picture.alt = file.name;
  picture.src = await dataUrlOf(content);
  await picture.decode();
  return picture;
}

/** The pages' policy allows pictures at such addresses, which are no pages of this origin, unlike those of blobs. */
function dataUrlOf(content: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("The picture cannot be read.")));
    reader.readAsDataURL(content);
  });
}
