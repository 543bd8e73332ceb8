import type { PushField } from "@sealpush/age/fields";
import { countCharacters } from "./fields.ts";
import { keepLinkKey } from "./kept-link-key.ts";
import type { UploadSource } from "./uploads.ts";

type Seal = typeof import("../seal.ts");
type LinkKey = Awaited<ReturnType<Seal["makeLinkKey"]>>;
type FileKey = Awaited<ReturnType<Seal["makeFileKey"]>>;

/** Everything of a form that is sealed. Kept until the form has been accepted, so that files are sent and sealed once. */
interface Sealer {
  readonly seal: Seal;
  /** In the link. */
  readonly key: LinkKey;
}

/** How a file is sealed: the list in the sealed payload names both. */
interface StoredFile {
  readonly stored: string;
  readonly key: Promise<FileKey>;
}

const sealedKinds = ["text", "file"];
/** Fields that the server must not get: it would see the passphrase, and does not have the link that it would mail. */
const keptFields = ["push[passphrase]", "push[notify_emails_to]", "push[notify_emails_to_locale]"];

/** The choice "Seal in this browser" of the form of a new push. */
export class Sealing {
  readonly #box: HTMLInputElement;
  readonly #form: HTMLFormElement;
  readonly #root: HTMLElement;
  readonly #stored = new Map<File, StoredFile>();
  #sealer: Sealer | undefined;
  #filesNamed = 0;
  /** By field. The same text is sealed once, so that a repeated form is recognised by the server. */
  readonly #latest = new Map<string, { readonly text: string; readonly passphrase: string; readonly sealed: string }>();

  private constructor(root: HTMLElement, box: HTMLInputElement, form: HTMLFormElement) {
    this.#root = root;
    this.#box = box;
    this.#form = form;
  }

  /** @returns undefined: this page has no such choice. Call it before the controls for files are enabled. */
  static enable(): Sealing | undefined {
    const root = document.querySelector<HTMLElement>("[data-seals]");
    const box = root?.querySelector<HTMLInputElement>('input[type="checkbox"]');
    if (root === null || box === null || box === undefined || box.form === null) return undefined;
    const sealing = new Sealing(root, box, box.form);
    sealing.#listen();
    return sealing;
  }

  get isOn(): boolean {
    return this.#box.checked && !this.#box.disabled && sealedKinds.includes(this.#kind);
  }

  /** Calls `listener` when files that have been sent must be sent again, because they are sealed or not. */
  onChange(listener: () => void): void {
    this.#box.addEventListener("change", listener);
  }

  /** The file as it is sent. Only while the form is being sent. */
  sourceOf(file: File): UploadSource {
    const { seal } = this.#ready();
    let sealed = this.#stored.get(file);
    if (sealed === undefined) {
      this.#filesNamed += 1;
      sealed = { stored: `${this.#filesNamed}.age`, key: seal.makeFileKey() };
      this.#stored.set(file, sealed);
    }
    return new SealedSource(seal, file, sealed);
  }

  /** The file is not part of the form any more. */
  forget(file: File): void {
    this.#stored.delete(file);
  }

  get #kind(): string {
    const field = this.#form.elements.namedItem("push[kind]");
    return field instanceof HTMLInputElement ? field.value : "";
  }

  get #labelsChoice(): HTMLElement | null {
    return this.#root.querySelector<HTMLElement>("[data-seals-labels]");
  }

  get #sealsLabels(): boolean {
    return this.#labelsChoice?.querySelector("input")?.checked === true;
  }

  #hasLabels(): boolean {
    const labels = this.#form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
      '[name="push[name]"], [name="push[note]"]',
    );
    return [...labels].some(({ value }) => value !== "");
  }

  #listen(): void {
    const insecure = this.#root.querySelector<HTMLElement>("[data-insecure]");
    if (!isSecureContext) {
      this.#box.disabled = true;
      this.#box.checked = false;
      insecure?.removeAttribute("hidden");
      // The person agrees to send it as it is, where sealing is the default.
      this.#form.querySelector("[data-unsealed]")?.removeAttribute("hidden");
    }
    const update = () => {
      this.#root.hidden = !sealedKinds.includes(this.#kind);
      this.#labelsChoice?.toggleAttribute("hidden", !(this.isOn && this.#hasLabels()));
      for (const field of this.#form.querySelectorAll<HTMLInputElement>('[name^="push[notify_emails_to"]')) {
        field.disabled = this.isOn;
      }
    };
    this.#form.addEventListener("input", update);
    this.#form.addEventListener("change", update);
    addEventListener("pageshow", (event) => {
      update();
      // Another push needs another key.
      if (event.persisted) this.#reset();
    });
    update();
    // Before all other listeners, so that no file is sent before there is a key.
    this.#form.addEventListener(
      "submit",
      (event) => {
        if (!this.isOn || (this.#sealer !== undefined && this.#checkPassphrase(this.#sealer))) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        if (this.#sealer !== undefined) return;
        void this.#prepare().then((isReady) => isReady && this.#form.requestSubmit(event.submitter));
      },
      { capture: true },
    );
  }

  async #prepare(): Promise<boolean> {
    try {
      const seal: Seal = await import(this.#root.dataset.seals ?? "");
      this.#sealer = { seal, key: await seal.makeLinkKey() };
      return true;
    } catch (error) {
      // The script could not be loaded: what was typed is still in the form.
      if (!(error instanceof TypeError)) throw error;
      this.#say(this.#root.dataset.failed);
      return false;
    }
  }

  /** Whether the passphrase keeps to the rules, which the server cannot check. Says it if not. */
  #checkPassphrase({ seal }: Sealer): boolean {
    const { passphraseMin, passphraseCommon, passphraseRule } = this.#root.dataset;
    const field = this.#form.elements.namedItem("push[passphrase]");
    if (!(field instanceof HTMLInputElement) || field.value === "") return true;
    const isShort = [...field.value].length < Number(passphraseMin);
    const isRefused = isShort || (passphraseCommon === "refused" && seal.guessableReason(field.value) !== undefined);
    field.setAttribute("aria-invalid", String(isRefused));
    this.#say(isRefused ? passphraseRule : "");
    if (isRefused) field.focus();
    return !isRefused;
  }

  #ready(): Sealer {
    if (this.#sealer === undefined) throw new Error("There is no key to seal with.");
    return this.#sealer;
  }

  #reset(): void {
    this.#sealer = undefined;
    this.#latest.clear();
    this.#stored.clear();
  }

  /**
   * Replaces the secret in the data of the form by the sealed one.
   * @returns whether it can be sent: the secret is not empty, and not too long.
   */
  async seal(data: FormData): Promise<boolean> {
    const { seal, key } = this.#ready();
    this.#say("");
    const passphrase = textIn(data, "push[passphrase]");
    for (const name of keptFields) data.delete(name);
    const text = textIn(data, "push[payload]").replaceAll("\r\n", "\n");
    const fields = fieldsIn(data);
    data.delete("push[fields]");
    const limit = Number(document.querySelector<HTMLElement>("[data-counter-of][data-limit]")?.dataset.limit);
    const isFilePush = this.#kind === "file";
    if (countCharacters(text) > limit || (text === "" && fields === undefined && !isFilePush)) {
      this.#say(this.#root.dataset.length);
      return false;
    }
    if (isFilePush) await this.#sealOtherFiles(data);
    const content = seal.writePayload({ text, fields, files: isFilePush ? await this.#listFiles() : [] });
    // The page shows that it works before the work begins, which takes seconds under a passphrase.
    await new Promise((resolve) => setTimeout(resolve, 50));
    data.set("push[payload]", await this.#sealOnce("push[payload]", content, passphrase));
    if (this.#sealsLabels && !(await this.#sealLabels(data))) return false;
    data.set("push[encryption]", "age");
    data.set("push[encryption_check]", key.check);
    return true;
  }

  async #listFiles() {
    return await Promise.all(
      [...this.#stored].map(async ([{ name, type, size }, { stored, key }]) => {
        const { identity } = await key;
        return { stored, name, type, size, identity };
      }),
    );
  }

  async #sealOnce(field: string, text: string, passphrase: string): Promise<string> {
    const { seal, key } = this.#ready();
    const latest = this.#latest.get(field);
    if (latest?.text === text && latest.passphrase === passphrase) return latest.sealed;
    const sealed = await seal.sealText(text, key.recipient, passphrase);
    this.#latest.set(field, { text, passphrase, sealed });
    return sealed;
  }

  /** @returns whether the sealed name and note are short enough. */
  async #sealLabels(data: FormData): Promise<boolean> {
    const { nameMax, noteMax, labelsLength } = this.#root.dataset;
    const { seal } = this.#ready();
    for (const [is, max] of [
      ["name", Number(nameMax)],
      ["note", Number(noteMax)],
    ] as const) {
      const field = `push[${is}]`;
      const text = textIn(data, field).replaceAll("\r\n", "\n");
      if (text === "") continue;
      // The labels are not under the passphrase: their owner opens them with the link alone.
      const sealed = await this.#sealOnce(field, seal.writeLabel(is, text), "");
      if (sealed.length > max) {
        this.#say(labelsLength);
        return false;
      }
      data.set(field, sealed);
    }
    return true;
  }

  /** Says that the person has chosen to send the form without sealing it. */
  markUnsealed(data: FormData): void {
    if (!this.#box.disabled) data.set("push[unsealed]", "1");
  }

  /** The page that follows has the key from the storage of this tab; only where that is blocked, from its address. */
  withKey(next: string): string {
    const { identity } = this.#ready().key;
    return keepLinkKey(new URL(next, location.href).pathname, identity) ? next : `${next}#${identity}`;
  }

  /** Files that were not sent before the form, because this server does not take them in parts: they are in its data. */
  async #sealOtherFiles(data: FormData): Promise<void> {
    const name = "push[files][]";
    const files = data.getAll(name).filter((value) => value instanceof File && (value.name !== "" || value.size > 0));
    data.delete(name);
    for (const file of files) {
      if (!(file instanceof File)) continue;
      const source = this.sourceOf(file);
      data.append(name, await source.slice(0, source.size), source.name);
    }
  }

  #say(problem: string | undefined): void {
    const element = this.#root.querySelector<HTMLElement>("[data-seal-problem]");
    if (element === null) return;
    element.textContent = problem ?? "";
    element.hidden = element.textContent === "";
  }
}

/** The editor has checked them, see field-editor.ts. */
function fieldsIn(data: FormData): readonly PushField[] | undefined {
  const list = textIn(data, "push[fields]");
  return list === "" ? undefined : JSON.parse(list);
}

function textIn(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value : "";
}

/** The most that is sealed in advance, and so in memory: what has not arrived at the server is sent again from there. */
const partBytes = 8 * 1024 ** 2;

/** A file that is sealed while it is sent, and read in order. A new start seals it again, under another key of its own. */
class SealedSource implements UploadSource {
  readonly name: string;
  readonly type = "application/octet-stream";
  readonly size: number;
  readonly #open: () => Promise<ReadableStreamDefaultReader<Uint8Array>>;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** The sealed bytes from `#start` that may be needed again. */
  #pieces: Uint8Array[] = [];
  #start = 0;

  constructor(seal: Seal, file: File, { stored, key }: StoredFile) {
    this.name = stored;
    this.size = seal.sealedSize(file.size);
    this.#open = async () => (await seal.sealFile(file.stream(), (await key).recipient)).getReader();
  }

  /** @returns the bytes from `start`, at most 8 MiB unless all of them are asked for. */
  async slice(start: number, end: number): Promise<Blob> {
    if (start === 0) await this.#restart();
    this.#drop(start);
    const wanted = start === 0 && end === this.size ? end : Math.min(end - start, partBytes);
    while (this.#held < wanted) {
      const { done, value } = await (this.#reader ?? (await this.#restart())).read();
      if (done) break;
      this.#pieces.push(value);
    }
    return new Blob(this.#pieces.map((piece) => new Uint8Array(piece))).slice(0, wanted);
  }

  get #held(): number {
    return this.#pieces.reduce((sum, { length }) => sum + length, 0);
  }

  async #restart(): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    await this.#reader?.cancel();
    this.#pieces = [];
    this.#start = 0;
    this.#reader = await this.#open();
    return this.#reader;
  }

  /** @throws Error for bytes that are not kept any more: the server has acknowledged them. */
  #drop(start: number): void {
    let bytes = start - this.#start;
    if (bytes < 0) throw new Error("The server asks for bytes that it has acknowledged.");
    while (bytes > 0) {
      const [first] = this.#pieces;
      if (first === undefined) throw new Error("The server has acknowledged bytes that were not sent.");
      if (first.length > bytes) this.#pieces[0] = first.subarray(bytes);
      else this.#pieces.shift();
      bytes -= Math.min(bytes, first.length);
    }
    this.#start = start;
  }
}
