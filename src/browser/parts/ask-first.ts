const answerMsMax = 10_000;

/**
 * Before a form of this page is sent, the page asks for itself. Without an answer, or with a refusal, the form is not sent:
 * the browser would show another page in its place, and what was typed would be lost. The answer to such a form is a whole
 * page, so the browser itself sends it; forms that are sent by a script have `data-keeps-typed` (send.ts).
 */
export function askFirst(): void {
  const template = document.querySelector<HTMLTemplateElement>("template[data-asks-at]");
  if (template === null) return;
  for (const form of document.querySelectorAll<HTMLFormElement>('main form[method="post"]:not([data-keeps-typed])')) {
    let state: "ready" | "asking" | "answered" = "ready";
    const ask = async (submitter: HTMLElement | null) => {
      form.querySelector("[data-unsent]")?.remove();
      const problem = await findProblem(template.dataset);
      state = problem === null ? "answered" : "ready";
      if (problem === null) form.requestSubmit(submitter);
      else show(form, template, problem);
      state = "ready";
    };
    // Before the form's other listeners, which act as if it were sent now.
    form.addEventListener(
      "submit",
      (event) => {
        const button = event.submitter;
        const opensTab = button instanceof HTMLButtonElement && button.formTarget === "_blank";
        if (state === "answered" || opensTab) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        if (state === "asking") return;
        state = "asking";
        void ask(button);
      },
      { capture: true },
    );
  }
}

interface Problem {
  readonly heading: string | null | undefined;
  readonly text: string | null | undefined;
  /** The page to complete first, in another tab. */
  readonly step?: { readonly url: string; readonly name: string | null };
}

/** @returns null: the server answers, and the session is as it was. */
async function findProblem(texts: DOMStringMap): Promise<Problem | null> {
  try {
    const answer = await fetch(texts.asksAt ?? "", { cache: "no-store", signal: AbortSignal.timeout(answerMsMax) });
    const isElsewhere = answer.redirected && texts.step !== undefined;
    if (!isElsewhere && answer.status !== 429 && answer.status < 500) return null;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const heading = page.querySelector("h1")?.textContent ?? null;
    if (isElsewhere) return { heading: texts.stepHeading, text: texts.step, step: { url: answer.url, name: heading } };
    const explanation = page.querySelector("[data-failure]")?.textContent;
    if (explanation) return { heading, text: `${explanation} ${texts.kept}` };
    return { heading: texts.failedHeading, text: texts.failed?.replace("{status}", String(answer.status)) };
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
    return { heading: texts.unansweredHeading, text: texts.unanswered };
  }
}

function show(form: HTMLFormElement, template: HTMLTemplateElement, { heading, text, step }: Problem): void {
  const content = document.importNode(template.content, true);
  const message = content.firstElementChild;
  if (!(message instanceof HTMLElement)) return;
  message.dataset.unsent = "";
  message.querySelector("h2")?.replaceChildren(heading ?? "");
  message.querySelector("p")?.replaceChildren(text ?? "");
  if (step !== undefined) {
    const link = document.createElement("a");
    Object.assign(link, {
      className: "button",
      href: step.url,
      target: "_blank",
      rel: "noopener",
      textContent: step.name,
    });
    message.querySelector(".page-actions")?.append(link);
  }
  form.prepend(message);
  message.focus();
  message.scrollIntoView({ block: "nearest" });
}
