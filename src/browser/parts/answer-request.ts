import { sealFile, sealText } from "../../age/seal.ts";
import { type SealedFileDetails, writeSealedFiles } from "../../age/sealed-files.ts";
import { countCharacters } from "./fields.ts";

/**
 * The form that answers a request: seals text and files for the request's recipient before the browser sends the form, and
 * puts the sealed content in the place of what was typed and chosen.
 */
export function sealAnswer(): void {
  const form = document.querySelector<HTMLFormElement>("form#answer");
  const encryption = form?.querySelector<HTMLInputElement>('input[name="encryption"]');
  if (form === null || !encryption || !isSecureContext) return;
  form.querySelector<HTMLElement>("[data-server-seals]")?.setAttribute("hidden", "");
  form.querySelector<HTMLElement>("[data-browser-seals]")?.removeAttribute("hidden");
  new AnswerForm(form, encryption).listen();
}

class AnswerForm {
  readonly #form: HTMLFormElement;
  readonly #encryption: HTMLInputElement;
  #isSealing = false;

  constructor(form: HTMLFormElement, encryption: HTMLInputElement) {
    this.#form = form;
    this.#encryption = encryption;
  }

  listen(): void {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.#isSealing) void this.#send();
    });
    // Going back must show the form as it was made: what it sends now is sealed.
    addEventListener("pageshow", (event) => {
      if (event.persisted) location.reload();
    });
  }

  get #text(): HTMLTextAreaElement | null {
    return this.#form.querySelector("textarea");
  }

  get #files(): HTMLInputElement | null {
    return this.#form.querySelector('input[type="file"]');
  }

  async #send(): Promise<void> {
    const { dataset } = this.#encryption;
    const text = this.#text?.value ?? "";
    const files = [...(this.#files?.files ?? [])];
    this.#say("problem", "");
    if (text === "" && files.length === 0) this.#say("problem", dataset.nothing);
    else if (countCharacters(text) > Number(dataset.charactersMax)) this.#say("problem", dataset.tooLong);
    else await this.#sealAndSubmit(text, files);
  }

  async #sealAndSubmit(text: string, files: readonly File[]): Promise<void> {
    const { dataset } = this.#encryption;
    const recipient = dataset.recipient ?? "";
    this.#isSealing = true;
    this.#say("status", dataset.sealing);
    try {
      const sealed = new DataTransfer();
      const list: SealedFileDetails[] = [];
      for (const file of files) {
        const { name, type, size } = file;
        const stored = `${list.length + 1}.age`;
        sealed.items.add(await sealedFile(file, stored, recipient));
        list.push({ stored, name, type, size });
      }
      const content = files.length === 0 ? text : writeSealedFiles({ text, identity: null, files: list });
      this.#setPayload(await sealText(content, recipient, ""));
      if (this.#files !== null) this.#files.files = sealed.files;
    } catch (error) {
      // A chosen file cannot be read any more; nothing was sent.
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
      this.#isSealing = false;
      this.#say("status", "");
      this.#say("problem", dataset.failed);
      return;
    }
    this.#encryption.value = "age";
    this.#form.submit();
  }

  /** In a field of its own: what was typed loses its name, and is not sent. */
  #setPayload(sealed: string): void {
    this.#text?.removeAttribute("name");
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = "payload";
    field.value = sealed;
    this.#encryption.after(field);
  }

  #say(where: "problem" | "status", text: string | undefined): void {
    const element = this.#form.querySelector(`[data-answer-${where}]`);
    if (element !== null) element.textContent = text ?? "";
  }
}

/** Large blobs are kept on disk by the browser. */
async function sealedFile(file: File, name: string, recipient: string): Promise<File> {
  const content = await sealFile(file.stream(), recipient);
  return new File([await new Response(content).blob()], name);
}
