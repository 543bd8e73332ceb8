import { localiseExactTimes } from "./local-times.ts";
import { SendingMeter } from "./sending-meter.ts";

/** Without an answer by then, the form can be sent again. A form with files may take as long as it needs. */
const answerMsMax = 60_000;

/** The server answers a success with 204 and the address of the page that follows. */
const scriptHeaders = { prefer: "return=minimal" };

/** Hidden fields that an answer may renew. */
const renewedFields = ["form_token", "account", "idempotency_key"] as const;

/**
 * A form with `data-keeps-typed` is sent while its page stays, so that nothing typed or chosen is lost if it is refused or
 * the network fails. The messages of the answer are shown in this page; a success leads to the page that the answer names.
 */
export function keepTyped(sealing?: FormSealing): void {
  const form = document.querySelector<HTMLFormElement>("form[data-keeps-typed]");
  const messages = document.querySelector<HTMLElement>("[data-form-messages]");
  if (form !== null && messages !== null) new FormSender(form, messages, sealing).listen();
}

export interface FormSealing {
  readonly isOn: boolean;
  /** Replaces the secret in the data. @returns whether it can be sent; if not, the page says why. */
  seal(data: FormData): Promise<boolean>;
  /** Says in the data that the person has chosen not to seal it; absent where that is no choice. */
  markUnsealed?(data: FormData): void;
  /** @param location where the form leads. @returns the same with the key, if it belongs there. */
  withKey(location: string): string;
}

interface Answer {
  readonly status: number;
  /** The page that follows a success. */
  readonly location: string | null;
  readonly page: Document;
}

class FormSender {
  readonly #form: HTMLFormElement;
  readonly #messages: HTMLElement;
  readonly #sealing: FormSealing | undefined;
  readonly #meter: SendingMeter | undefined;
  #state: "ready" | "sending" | "done" = "ready";

  constructor(form: HTMLFormElement, messages: HTMLElement, sealing: FormSealing | undefined) {
    this.#form = form;
    this.#messages = messages;
    this.#sealing = sealing;
    this.#meter = SendingMeter.in(form);
  }

  listen(): void {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#state === "ready") void this.#send(event.submitter);
    });
    // The browser may keep this page for its Back button (threat: the next person at the computer).
    addEventListener("pagehide", () => this.#state === "done" && this.#form.reset());
    addEventListener("pageshow", (event) => {
      if (event.persisted && this.#state === "done") location.replace(location.href);
    });
  }

  async #send(submitter: HTMLElement | null): Promise<void> {
    this.#state = "sending";
    const endWaiting = showWaiting(submitter, this.#messages.dataset.waiting ?? "");
    const data = new FormData(this.#form, submitter);
    const sealing = this.#sealing?.isOn === true ? this.#sealing : undefined;
    if (sealing === undefined) this.#sealing?.markUnsealed?.(data);
    if (sealing !== undefined && !(await sealing.seal(data))) {
      this.#state = "ready";
      endWaiting();
      return;
    }
    const answer = await this.#answerTo(data);
    if (answer !== null && answer !== "cancelled" && answer.location !== null) {
      this.#state = "done";
      location.assign(sealing === undefined ? answer.location : sealing.withKey(answer.location));
      return;
    }
    this.#state = "ready";
    endWaiting();
    if (answer === "cancelled") return;
    const { unansweredHeading, unanswered } = this.#messages.dataset;
    if (answer === null) this.#say(unansweredHeading, unanswered);
    else this.#show(answer);
  }

  #answerTo(data: FormData): Promise<Answer | "cancelled" | null> {
    const { action } = this.#form;
    const hasFiles = [...data.values()].some((value) => value instanceof File && value.size > 0);
    return hasFiles && this.#meter !== undefined
      ? answerWithProgress(action, data, this.#meter)
      : answerTo(action, data, hasFiles);
  }

  #show({ page, status }: Answer): void {
    const messages = page.querySelector("[data-form-messages]");
    const form = page.querySelector<HTMLFormElement>("form[data-keeps-typed]");
    const { kept, failedHeading, failed } = this.#messages.dataset;
    const explanation = page.querySelector("[data-failure]");
    if (messages !== null && form !== null) {
      document.title = page.title;
      this.#renewFields(form);
      showProblems(this.#form, form);
      showStored(page);
      this.#showMessages(messages.children);
    } else if (explanation !== null) {
      this.#say(
        page.querySelector("h1")?.textContent,
        `${explanation.textContent} ${kept}`,
        page.querySelector("[data-failure-action]"),
      );
    } else {
      this.#say(failedHeading, failed?.replace("{status}", String(status)));
    }
  }

  #renewFields(answered: HTMLFormElement): void {
    const hidden = (form: HTMLFormElement, name: string) =>
      form.querySelector<HTMLInputElement>(`input[type="hidden"][name="${name}"]`);
    for (const name of renewedFields) {
      hidden(this.#form, name)?.remove();
      const renewed = hidden(answered, name);
      if (renewed !== null) this.#form.prepend(document.importNode(renewed));
    }
  }

  #say(heading: string | null | undefined, text: string | undefined, action: Element | null = null): void {
    const template = document.querySelector<HTMLTemplateElement>("template[data-form-message]");
    if (template === null) return;
    const message = document.importNode(template.content, true);
    message.querySelector("h2")?.replaceChildren(heading ?? "");
    message.querySelector("p")?.replaceChildren(text ?? "");
    if (action !== null) message.querySelector(".page-actions")?.append(document.importNode(action, true));
    this.#showMessages(message.children);
  }

  #showMessages(messages: Iterable<Element>): void {
    this.#messages.replaceChildren(...[...messages].map((message) => document.importNode(message, true)));
    const first = this.#messages.querySelector<HTMLElement>("[data-focus], [role=alert]");
    if (first === null) return;
    first.tabIndex = -1;
    first.focus();
    first.scrollIntoView({ block: "nearest" });
  }
}

/** @returns null: there was no answer, so what has happened is unknown. */
async function answerTo(action: string, body: FormData, hasFiles: boolean): Promise<Answer | null> {
  try {
    const answer = await fetch(action, {
      method: "POST",
      body,
      headers: scriptHeaders,
      signal: hasFiles ? null : AbortSignal.timeout(answerMsMax),
    });
    return answerOf(answer.status, answer.headers.get("location"), await answer.text());
  } catch (error) {
    if (error instanceof TypeError || error instanceof DOMException) return null;
    throw error;
  }
}

/** The same by XMLHttpRequest, because `fetch` does not report how much has been sent. */
function answerWithProgress(action: string, body: FormData, meter: SendingMeter): Promise<Answer | "cancelled" | null> {
  const cancelled = meter.begin();
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", action);
    for (const [name, value] of Object.entries(scriptHeaders)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => meter.show(loaded, total));
    cancelled.addEventListener("abort", () => request.abort());
    request.addEventListener("loadend", () => {
      meter.end();
      const { status, responseText } = request;
      if (status === 0) resolve(cancelled.aborted ? "cancelled" : null);
      else resolve(answerOf(status, request.getResponseHeader("location"), responseText));
    });
    request.send(body);
  });
}

function answerOf(status: number, location: string | null, text: string): Answer {
  const isOk = status >= 200 && status < 300;
  return { status, location: isOk ? location : null, page: new DOMParser().parseFromString(text, "text/html") };
}

/** @returns the function that ends it. */
function showWaiting(submitter: HTMLElement | null, text: string): () => void {
  const label = submitter?.querySelector("span") ?? null;
  const before = label?.textContent ?? "";
  if (label !== null) label.textContent = text;
  submitter?.setAttribute("aria-busy", "true");
  return () => {
    if (label !== null) label.textContent = before;
    submitter?.removeAttribute("aria-busy");
  };
}

/** Elements with `data-stored` show what the server has stored by now, unlike the fields, which show what was typed. */
function showStored(answered: Document): void {
  for (const stored of document.querySelectorAll("[data-stored]")) {
    const current = answered.getElementById(stored.id);
    if (current === null) {
      stored.remove();
      continue;
    }
    const shown = document.importNode(current, true);
    localiseExactTimes(shown);
    stored.replaceWith(shown);
  }
}

/** Moves the problems at fields from the answered form to the one that people see. */
function showProblems(form: HTMLFormElement, answered: HTMLFormElement): void {
  for (const problem of form.querySelectorAll(".field-problem[id]")) problem.remove();
  for (const field of form.querySelectorAll(".field-invalid")) field.classList.remove("field-invalid");
  for (const control of form.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    copyAttribute("aria-describedby", answered.querySelector(`[id="${control.id}"]`), control);
  }
  for (const control of answered.querySelectorAll("[aria-invalid]")) {
    const shown = form.querySelector(`[id="${control.id}"]`);
    const problem = answered.querySelector(`[id="${control.id}_problem"]`);
    const field = shown?.closest(".field");
    if (shown === null || problem === null || !field) continue;
    for (const name of ["aria-invalid", "aria-describedby"]) copyAttribute(name, control, shown);
    field.classList.add("field-invalid");
    const above = field.querySelector(":scope > .field-hint") ?? field.firstElementChild;
    above?.after(document.importNode(problem, true));
    const folded = shown.closest("details");
    if (folded !== null) folded.open = true;
  }
}

function copyAttribute(name: string, from: Element | null, to: Element): void {
  const value = from?.getAttribute(name) ?? null;
  if (value === null) to.removeAttribute(name);
  else to.setAttribute(name, value);
}
