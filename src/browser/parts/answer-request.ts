import { makeFileKey } from "../../age/link-key.ts";
import { sealFile, sealText } from "../../age/seal.ts";
import { type SealedFileDetails, writeAnswer } from "../../age/sealed-content.ts";
import { countCharacters } from "./fields.ts";
import { type FormSealing, keepTyped } from "./send.ts";

/** The form that answers a request: text and files are sealed for the request's recipient before they are sent. */
export function answerRequest(): void {
  const form = document.querySelector<HTMLFormElement>("form#answer");
  const encryption = form?.querySelector<HTMLInputElement>('input[name="encryption"]');
  if (form === null || !encryption) return;
  if (isSecureContext) {
    form.querySelector<HTMLElement>("[data-server-seals]")?.setAttribute("hidden", "");
    form.querySelector<HTMLElement>("[data-browser-seals]")?.removeAttribute("hidden");
  }
  keepTyped(isSecureContext ? new AnswerSealing(form, encryption.dataset) : undefined);
}

const filesField = "files[]";

class AnswerSealing implements FormSealing {
  readonly isOn = true;
  readonly #form: HTMLFormElement;
  /** The recipient, the limits, and what the page says. */
  readonly #dataset: DOMStringMap;

  constructor(form: HTMLFormElement, dataset: DOMStringMap) {
    this.#form = form;
    this.#dataset = dataset;
  }

  async seal(data: FormData): Promise<boolean> {
    const typed = data.get("payload");
    const text = typeof typed === "string" ? typed.replaceAll("\r\n", "\n") : "";
    const files = data
      .getAll(filesField)
      .filter((value) => value instanceof File && (value.name !== "" || value.size > 0));
    data.delete(filesField);
    const problem = this.#problemOf(text, files as File[]);
    this.#say("problem", problem);
    if (problem !== undefined) return false;
    this.#say("status", this.#dataset.sealing);
    try {
      await this.#replace(data, text, files as File[]);
      return true;
    } catch (error) {
      // A chosen file cannot be read any more; nothing was sent.
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
      this.#say("problem", this.#dataset.unreadable);
      return false;
    } finally {
      this.#say("status", "");
    }
  }

  withKey(location: string): string {
    return location;
  }

  #problemOf(text: string, files: readonly File[]): string | undefined {
    const { nothing, tooLong, charactersMax, tooMany, countMax, tooLarge, bytesMax } = this.#dataset;
    if (text === "" && files.length === 0) return nothing;
    if (countCharacters(text) > Number(charactersMax)) return tooLong;
    if (files.length > Number(countMax)) return tooMany;
    return files.reduce((sum, { size }) => sum + size, 0) > Number(bytesMax) ? tooLarge : undefined;
  }

  async #replace(data: FormData, text: string, files: readonly File[]): Promise<void> {
    const recipient = this.#dataset.recipient ?? "";
    const list: SealedFileDetails[] = [];
    data.set("encryption", "age");
    for (const file of files) {
      const { name, type, size } = file;
      const stored = `${list.length + 1}.age`;
      const key = await makeFileKey();
      data.append(filesField, await sealedFile(file, stored, key.recipient));
      list.push({ stored, name, type, size, identity: key.identity });
    }
    const content = writeAnswer(requestInAddress(), { text, files: list });
    data.set("payload", await sealText(content, recipient, ""));
  }

  #say(where: "problem" | "status", text: string | undefined): void {
    const element = this.#form.querySelector(`[data-answer-${where}]`);
    if (element !== null) element.textContent = text ?? "";
  }
}

/** The link that somebody opened says which request is answered, and not the page. */
function requestInAddress(): string {
  return location.pathname.split("/").at(-1) ?? "";
}

/** Large blobs are kept on disk by the browser. */
async function sealedFile(file: File, name: string, recipient: string): Promise<File> {
  const content = await sealFile(file.stream(), recipient);
  return new File([await new Response(content).blob()], name);
}
