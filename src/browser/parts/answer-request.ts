import { fingerprintOf, readFingerprint } from "@sealpush/age/key-check";
import { makeFileKey } from "@sealpush/age/link-key";
import { sealFile, sealText } from "@sealpush/age/seal";
import { type SealedFileDetails, writeAnswer } from "@sealpush/age/sealed-content";
import { showOnly } from "./elements.ts";
import { countCharacters } from "./fields.ts";
import { type FormSealing, keepTyped } from "./send.ts";

/** The form that answers a request: text and files are sealed for the request's recipient before they are sent. */
export function answerRequest(): void {
  const form = document.querySelector<HTMLFormElement>("form#answer");
  const encryption = form?.querySelector<HTMLInputElement>('input[name="encryption"]');
  if (form === null || !encryption) return;
  if (!isSecureContext) {
    keepTyped();
    return;
  }
  form.querySelector<HTMLElement>("[data-server-seals]")?.setAttribute("hidden", "");
  keepTyped(new AnswerSealing(form, encryption.dataset));
  const showCheck = async () => {
    const check = await checkKey(encryption.dataset.recipient ?? "");
    showOnly("data-key-check", check);
    form.hidden = check === "wrong";
  };
  // The whole link is pasted over the one that was cut: the browser does not load the page again.
  addEventListener("hashchange", () => void showCheck());
  void showCheck();
}

/** `unchecked`: the link does not name the key of the person who asks. */
type KeyCheck = "right" | "unchecked" | "wrong";

/** Compares the recipient that the server has sent with the link that somebody opened. */
async function checkKey(recipient: string): Promise<KeyCheck> {
  const fragment = location.hash.slice(1);
  const named = readFingerprint(fragment);
  const isOfPage = named === undefined && document.getElementById(fragment) !== null;
  if (fragment === "" || isOfPage) return "unchecked";
  return named === (await fingerprintOf(recipient)) ? "right" : "wrong";
}

/** The links of these pages that lead to the request again keep the fingerprint, and so does its address when somebody follows a link to a field. */
export function keepFingerprint(): void {
  let { hash } = location;
  if (readFingerprint(hash) === undefined) return;
  const links = document.querySelectorAll<HTMLAnchorElement>("a[data-keeps-fingerprint], a[hreflang]");
  for (const link of links) link.hash = hash;
  addEventListener("hashchange", () => {
    if (document.getElementById(location.hash.slice(1)) === null) ({ hash } = location);
    else history.replaceState(history.state, "", hash);
  });
}

const filesField = "files[]";

interface Problem {
  readonly text: string | undefined;
  /** The id of the field. */
  readonly at: "payload" | "files";
}

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
    this.#sayProblem(problem);
    if (problem !== undefined || (await checkKey(this.#dataset.recipient ?? "")) === "wrong") return false;
    this.#sayStatus(this.#dataset.sealing);
    try {
      await this.#replace(data, text, files as File[]);
      return true;
    } catch (error) {
      // A chosen file cannot be read any more; nothing was sent.
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
      this.#sayProblem({ text: this.#dataset.unreadable, at: "files" });
      return false;
    } finally {
      this.#sayStatus("");
    }
  }

  withKey(next: string): string {
    return `${next}${location.hash}`;
  }

  #problemOf(text: string, files: readonly File[]): Problem | undefined {
    const { nothing, tooLong, charactersMax, tooMany, countMax, tooLarge, bytesMax } = this.#dataset;
    if (text === "" && files.length === 0) return { text: nothing, at: this.#field("payload") ? "payload" : "files" };
    if (countCharacters(text) > Number(charactersMax)) return { text: tooLong, at: "payload" };
    if (files.length > Number(countMax)) return { text: tooMany, at: "files" };
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    return bytes > Number(bytesMax) ? { text: tooLarge, at: "files" } : undefined;
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

  #field(id: Problem["at"]): HTMLElement | null {
    return this.#form.querySelector<HTMLElement>(`#${id}`);
  }

  /** At its field, as the server does. */
  #sayProblem(problem: Problem | undefined): void {
    const element = this.#form.querySelector<HTMLElement>("[data-answer-problem]");
    for (const id of ["payload", "files"] as const) this.#field(id)?.removeAttribute("aria-invalid");
    element?.toggleAttribute("hidden", problem === undefined);
    if (problem === undefined || element === null) return;
    element.replaceChildren(problem.text ?? "");
    const field = this.#field(problem.at);
    const row = field?.closest(".field");
    (row?.querySelector(":scope > .field-hint") ?? row?.firstElementChild)?.after(element);
    field?.setAttribute("aria-invalid", "true");
    field?.focus();
  }

  #sayStatus(text: string | undefined): void {
    this.#form.querySelector("[data-answer-status]")?.replaceChildren(text ?? "");
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
