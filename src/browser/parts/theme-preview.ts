/** After the last change: most people type faster, and each preview counts as a request. */
const pauseMs = 400;

/**
 * Shows in the frame of the page how the change that was made last would look, as the server renders it. Nothing is stored.
 * The page's own policy applies in the frame: it loads from this origin only.
 */
export async function previewTheme(): Promise<void> {
  const section = document.querySelector<HTMLElement>("[data-theme-preview]");
  const problem = section?.querySelector("[role=status]");
  const forms = document.querySelectorAll<HTMLFormElement>(".admin-theme form[id]");
  const frame = section?.querySelector("iframe");
  if (section === null || !problem || !frame) return;
  const { failed = "" } = section.dataset;
  if (document.readyState !== "complete") {
    await new Promise((resolve) => window.addEventListener("load", resolve, { once: true }));
  }
  if (frame.contentDocument === null) {
    // This browser applies the page's policy, which allows no frames, also to an empty one.
    section.hidden = true;
    return;
  }
  let asking = new AbortController();
  let timer = 0;

  const update = async (form: HTMLFormElement) => {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const { isPreview, page, style } = await askForPreview(form, signal);
      if (isPreview) showIn(frame, page, style);
      const explanation = page.querySelector(".admin-theme .field-problem, [data-failure]")?.textContent ?? failed;
      problem.textContent = isPreview ? "" : explanation;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TypeError)) throw error;
      problem.textContent = failed;
    }
  };

  for (const form of forms) {
    form.addEventListener("input", () => {
      clearTimeout(timer);
      if (form.checkValidity()) timer = window.setTimeout(() => void update(form), pauseMs);
    });
  }
}

/** @throws TypeError without an answer. */
async function askForPreview(form: HTMLFormElement, signal: AbortSignal) {
  const body = new FormData(form);
  body.set("preview", "1");
  const answer = await fetch(form.action, { method: "POST", body, signal });
  // Its only style element, if it has one. The policy of this page refuses such elements, but not style sheets of scripts.
  const [before = "", style = "", after = ""] = (await answer.text()).split(/<style>(.*?)<\/style>/s);
  const page = new DOMParser().parseFromString(before + after, "text/html");
  // A redirect leads to the page for signing in.
  return { isPreview: answer.ok && !answer.redirected, page, style };
}

function showIn({ contentDocument: shown, contentWindow }: HTMLIFrameElement, page: Document, style: string): void {
  if (shown === null || contentWindow === null) return;
  for (const element of page.querySelectorAll("script, title, [data-only-in-tab]")) element.remove();
  // The style sheets of the head stay loaded, so that the frame does not flicker.
  if (shown.head.innerHTML === page.head.innerHTML) shown.body.replaceWith(page.body);
  else shown.documentElement.replaceWith(page.documentElement);
  const { CSSStyleSheet } = contentWindow as Window & typeof globalThis;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  shown.adoptedStyleSheets = [sheet];
}
