import { say } from "./elements.ts";
import { pageLocale } from "./local-times.ts";
import type { Sealing } from "./sealing.ts";
import { SendingMeter } from "./sending-meter.ts";
import { fillIn, formatSize } from "./sizes.ts";
import { FileUpload, NotOfferedError, UploadFailedError, type UploadSource, type UploadWatch } from "./uploads.ts";

/**
 * Lists the files of the form's file field with a button for each that removes it. Choosing again, dropping and pasting add
 * files. They are put into the field itself, so the form is sent as it is without scripts.
 */
export function enableFilePicker(root: ParentNode, sealing: Sealing | undefined): void {
  for (const picker of root.querySelectorAll<HTMLElement>("[data-files]")) {
    const field = document.getElementById(picker.dataset.files ?? "");
    if (field instanceof HTMLInputElement) new FilePicker(picker, field, sealing).listen();
  }
}

class FilePicker {
  readonly #picker: HTMLElement;
  readonly #field: HTMLInputElement;
  readonly #sealing: Sealing | undefined;
  readonly #tag = pageLocale();
  readonly #uploads = new Map<File, FileUpload>();
  readonly #meter: SendingMeter | undefined;
  #files: readonly File[] = [];
  /** The form has been sent with the addresses of the files. */
  #isHandedOver = false;
  /** Ends the sending of one file. */
  #current: { readonly file: File; readonly stop: AbortController } | null = null;

  constructor(picker: HTMLElement, field: HTMLInputElement, sealing: Sealing | undefined) {
    this.#picker = picker;
    this.#meter = SendingMeter.in(picker);
    this.#sealing = sealing;
    this.#field = field;
  }

  listen(): void {
    this.#field.addEventListener("change", () => this.#add(this.#field.files));
    // The browser fills the field again after going back and after a reload, maybe later than this script runs.
    addEventListener("pageshow", () => this.#add(this.#field.files));
    this.#picker.querySelector("ul")?.addEventListener("click", (event) => this.#removeClicked(event));
    // A checkbox that removes a file of the push makes room for another one.
    this.#field.form?.addEventListener("change", () => this.#check());
    this.#listenForDrops();
    document.addEventListener("paste", (event) => this.#paste(event));
    this.#sealing?.onChange(() => {
      for (const file of this.#files) this.#forget(file);
    });
    this.#add(this.#field.files);
    this.#listenForSending();
  }

  /** The files go first, so that a broken connection costs little. Then the form is sent, which names them. */
  #listenForSending(): void {
    const { form } = this.#field;
    let isSent = false;
    form?.addEventListener(
      "submit",
      (event) => {
        if (isSent || this.#files.length === 0) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        if (this.#meter?.isRunning === true) return;
        void this.#send().then((mayGoOn) => {
          if (!mayGoOn) return;
          isSent = true;
          this.#isHandedOver = true;
          form.requestSubmit(event.submitter);
          isSent = false;
        });
      },
      { capture: true },
    );
    form?.addEventListener("formdata", ({ formData }) => {
      if (!formData.has(this.#field.name)) return;
      formData.delete(this.#field.name);
      for (const file of this.#files) {
        const address = this.#uploads.get(file)?.address ?? null;
        if (address === null) formData.append(this.#field.name, file);
        else formData.append(this.#picker.dataset.uploadsName ?? "", address);
      }
    });
    // A push may have taken the files.
    addEventListener("pageshow", (event) => event.persisted && this.#uploads.clear());
    addEventListener("pagehide", () => {
      if (!this.#isHandedOver) for (const upload of this.#uploads.values()) upload.discard();
    });
  }

  /** @returns whether the form can be sent: the files are on the server, or have to be sent with the form. */
  async #send(): Promise<boolean> {
    const cancelled = this.#meter?.begin() ?? new AbortController().signal;
    this.#isHandedOver = false;
    say(this.#picker.querySelector("[data-files-problem]"), "");
    try {
      await this.#sendAll(cancelled);
      return true;
    } catch (error) {
      if (error instanceof NotOfferedError) return true;
      if (error instanceof UploadFailedError)
        say(this.#picker.querySelector("[data-files-problem]"), this.#picker.dataset.failed ?? "");
      else if (!cancelled.aborted) throw error;
      return false;
    } finally {
      this.#meter?.end();
    }
  }

  /** Files may be added and removed meanwhile. */
  async #sendAll(signal: AbortSignal): Promise<void> {
    const sent = new Set<File>();
    for (;;) {
      const file = this.#files.find((each) => !sent.has(each));
      if (file === undefined) return;
      const before = this.#files.reduce((sum, each) => sum + (sent.has(each) ? each.size : 0), 0);
      const upload =
        this.#uploads.get(file) ?? new FileUpload(this.#sourceOf(file), this.#picker.dataset.uploads ?? "");
      this.#uploads.set(file, upload);
      const watch: UploadWatch = {
        progress: (bytes) => this.#showProgress(before + bytes),
        broken: (isBroken) => this.#meter?.showBroken(isBroken),
      };
      const stop = new AbortController();
      this.#current = { file, stop };
      this.#showProgress(before);
      try {
        await upload.send(watch, AbortSignal.any([signal, stop.signal]));
        sent.add(file);
      } catch (error) {
        if (signal.aborted || !stop.signal.aborted) throw error;
      } finally {
        this.#current = null;
      }
    }
  }

  #sourceOf(file: File): UploadSource {
    return this.#sealing?.isOn === true ? this.#sealing.sourceOf(file) : file;
  }

  #showProgress(bytes: number): void {
    this.#meter?.show(
      bytes,
      this.#files.reduce((sum, { size }) => sum + size, 0),
    );
  }

  #forget(file: File): void {
    const upload = this.#uploads.get(file);
    this.#uploads.delete(file);
    this.#sealing?.forget(file);
    if (this.#current?.file === file) this.#current.stop.abort();
    upload?.discard();
  }

  #listenForDrops(): void {
    const mark = (isOver: boolean) => document.documentElement.toggleAttribute("data-dragging", isOver);
    // Without this, the browser would leave the page and open the file.
    document.addEventListener("dragover", (event) => {
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      mark(true);
    });
    document.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) mark(false);
    });
    document.addEventListener("drop", (event) => {
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      mark(false);
      this.#add(event.dataTransfer?.files);
    });
  }

  #paste(event: ClipboardEvent): void {
    if (!isPastedFile(event)) return;
    event.preventDefault();
    this.#add(event.clipboardData?.files);
  }

  #add(added: FileList | null | undefined): void {
    // The form shows another kind of push.
    if (!this.#picker.isConnected) return;
    const files = this.#field.multiple ? [...this.#files] : [];
    for (const file of added ?? []) {
      if (!files.some((other) => isSame(file, other))) files.push(withFreeName(file, files));
    }
    // Cancelling the choice empties the field, so a field for one file keeps it too.
    this.#set(files.length > 0 ? files.slice(this.#field.multiple ? 0 : -1) : this.#files);
  }

  #set(files: readonly File[]): void {
    this.#files = files;
    const transfer = new DataTransfer();
    for (const file of files) transfer.items.add(file);
    this.#field.files = transfer.files;
    const list = this.#picker.querySelector("ul");
    list?.replaceChildren(...files.map((file) => this.#row(file)));
    list?.toggleAttribute("hidden", files.length === 0);
    this.#check();
  }

  #row(file: File): Node {
    const row = document.importNode(this.#picker.querySelector("template")?.content ?? new DocumentFragment(), true);
    row.querySelector("bdi")?.append(file.name);
    row.querySelector("[data-size]")?.append(formatSize(file.size, this.#tag));
    const remove = fillIn(this.#picker.dataset.remove, { filename: file.name });
    row.querySelector("button")?.setAttribute("aria-label", remove);
    return row;
  }

  #removeClicked({ target, currentTarget }: Event): void {
    const list = currentTarget as HTMLElement;
    const button = target instanceof Element ? target.closest("button") : null;
    if (button === null) return;
    const at = [...list.querySelectorAll("button")].indexOf(button);
    const [removed] = this.#files.slice(at, at + 1);
    this.#set(this.#files.toSpliced(at, 1));
    if (removed !== undefined) this.#forget(removed);
    // The focus would be lost with the button.
    const buttons = list.querySelectorAll("button");
    (buttons[Math.min(at, buttons.length - 1)] ?? this.#field).focus();
  }

  /** The form is not sent while there are too many files or bytes. */
  #check(): void {
    const { dataset } = this.#picker;
    const kept = [...document.querySelectorAll<HTMLInputElement>("input[data-kept-bytes]")].filter(
      (box) => !box.checked,
    );
    const bytes = [...this.#files.map(({ size }) => size), ...kept.map((box) => Number(box.dataset.keptBytes))];
    const sum = bytes.reduce((total, size) => total + size, 0);
    const [countMax, bytesMax] = [Number(dataset.countMax), Number(dataset.bytesMax)];
    const tooMany = bytes.length > countMax ? (dataset.tooMany ?? "") : "";
    const problem = tooMany === "" && sum > bytesMax ? (dataset.tooLarge ?? "") : tooMany;
    this.#field.setCustomValidity(problem);
    say(this.#picker.querySelector("[data-files-problem]"), problem);
    const number = new Intl.NumberFormat(this.#tag);
    const total = {
      count: number.format(bytes.length),
      countMax: number.format(countMax),
      size: formatSize(sum, this.#tag),
      sizeMax: formatSize(bytesMax, this.#tag),
    };
    say(this.#picker.querySelector("[data-files-total]"), bytes.length === 0 ? "" : fillIn(dataset.total, total));
  }
}

export function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes("Files") === true;
}

/** Copied from a document, text comes with its picture: in a text field the text is meant. */
export function isPastedFile({ clipboardData, target }: ClipboardEvent): boolean {
  if (clipboardData === null || clipboardData.files.length === 0) return false;
  return !(clipboardData.types.includes("text/plain") && isTextField(target));
}

function isTextField(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "file");
}

/** The same file, chosen again. */
function isSame(file: File, other: File): boolean {
  return file.name === other.name && file.size === other.size && file.lastModified === other.lastModified;
}

/** Every pasted picture is called `image.png`; recipients need to tell them apart. */
function withFreeName(file: File, others: readonly File[]): File {
  const isTaken = (name: string) => others.some((other) => other.name === name);
  if (!isTaken(file.name)) return file;
  const dot = file.name.lastIndexOf(".");
  const [stem, extension] = dot > 0 ? [file.name.slice(0, dot), file.name.slice(dot)] : [file.name, ""];
  let number = 2;
  while (isTaken(`${stem}-${number}${extension}`)) number += 1;
  return new File([file], `${stem}-${number}${extension}`, { type: file.type, lastModified: file.lastModified });
}
