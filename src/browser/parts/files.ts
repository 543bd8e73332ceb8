import { pageLocale } from "./local-times.ts";

const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

function formatSize(bytes: number, tag: string): string {
  const step = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const unit = units[step] ?? "byte";
  const format = new Intl.NumberFormat(tag, {
    style: "unit",
    unit,
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: 1,
  });
  return format.format(bytes / 1024 ** step);
}

/** @param template a message of the server with each name in braces. */
function fillIn(template: string | undefined, values: Readonly<Record<string, string>>): string {
  return (template ?? "").replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}

/**
 * Lists the files of the form's file field with a button for each that removes it. Choosing again, dropping and pasting add
 * files. They are put into the field itself, so the form is sent as it is without scripts.
 */
export function enableFilePicker(root: ParentNode): void {
  for (const picker of root.querySelectorAll<HTMLElement>("[data-files]")) {
    const field = document.getElementById(picker.dataset.files ?? "");
    if (field instanceof HTMLInputElement) new FilePicker(picker, field).listen();
  }
}

class FilePicker {
  readonly #picker: HTMLElement;
  readonly #field: HTMLInputElement;
  readonly #tag = pageLocale();
  #files: readonly File[] = [];

  constructor(picker: HTMLElement, field: HTMLInputElement) {
    this.#picker = picker;
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
    this.#add(this.#field.files);
  }

  #listenForDrops(): void {
    const mark = (isOver: boolean) => document.documentElement.toggleAttribute("data-dragging", isOver);
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;
    // Without this, the browser would leave the page and open the file.
    document.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      mark(true);
    });
    document.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) mark(false);
    });
    document.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      mark(false);
      this.#add(event.dataTransfer?.files);
    });
  }

  #paste(event: ClipboardEvent): void {
    const { files, types } = event.clipboardData ?? {};
    // Copied from a document, text comes with its picture: in a text field the text is meant.
    const isText = types?.includes("text/plain") === true && event.target instanceof HTMLTextAreaElement;
    if (files === undefined || files.length === 0 || isText) return;
    event.preventDefault();
    this.#add(files);
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
    this.#set(this.#files.toSpliced(at, 1));
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
    this.#say("[data-files-problem]", problem);
    const number = new Intl.NumberFormat(this.#tag);
    const total = {
      count: number.format(bytes.length),
      countMax: number.format(countMax),
      size: formatSize(sum, this.#tag),
      sizeMax: formatSize(bytesMax, this.#tag),
    };
    this.#say('[role="status"]', bytes.length === 0 ? "" : fillIn(dataset.total, total));
  }

  /** Unchanged text is not announced again. */
  #say(selector: string, text: string): void {
    const element = this.#picker.querySelector(selector);
    if (element !== null && element.textContent !== text) element.textContent = text;
  }
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
