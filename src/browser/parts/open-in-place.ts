import { pageLocale } from "./local-times.ts";
import { fillIn } from "./sizes.ts";
import { openingName, withTabStorage } from "./tab-storage.ts";

/** What this tab knows about the secret behind the address of this page. */
interface Opening {
  /** With it, the server repeats its answer for a while, and counts no other view. */
  readonly key: string;
  /** Milliseconds since the epoch; null: no answer has come yet. */
  readonly openedAt: number | null;
  readonly repeatsUntil: number;
}

function storedOpening(): Opening | null {
  return withTabStorage((storage) => JSON.parse(storage.getItem(openingName) ?? "null"));
}

function store(opening: Opening): void {
  withTabStorage((storage) => storage.setItem(openingName, JSON.stringify(opening)));
}

/**
 * The script sends the form that opens a secret, and shows the answer in place of the page. So the history has only the page
 * before the click: to go back or to reload requests that one, which counts no view. While the server repeats its answer, a
 * reload shows the secret again, and so does a button of the page of what is gone.
 */
export function openInPlace(): void {
  const opening = storedOpening();
  const isRepeatable = opening !== null && (opening.openedAt === null || Date.now() < opening.repeatsUntil);
  if (opening !== null && opening.openedAt !== null) sayOpened(opening.openedAt, isRepeatable);
  const form = document.querySelector<HTMLFormElement>("form[data-opens]");
  const again = document.querySelector<HTMLButtonElement>("button[data-opens-again]");
  if (form !== null) enableForm(form, isRepeatable ? opening.key : null);
  if (again !== null && isRepeatable && opening.openedAt !== null) {
    again.hidden = false;
    const fields = new URLSearchParams({ idempotency_key: opening.key });
    again.addEventListener(
      "click",
      once(again, () => open(location.pathname + location.search, fields)),
    );
  }
  if (!wasReloaded() || !isRepeatable || opening.openedAt === null) return;
  if (form === null) again?.click();
  else if (form.checkValidity() && form.checkVisibility()) form.requestSubmit();
}

function sayOpened(openedAt: number, isRepeatable: boolean): void {
  const note = document.querySelector<HTMLElement>("[data-opened-at]");
  const time = new Intl.DateTimeFormat(pageLocale(), { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  note?.querySelector("p")?.replaceChildren(fillIn(note.dataset.openedAt, { time: time.format(openedAt) }));
  note?.removeAttribute("hidden");
  note?.querySelector("[data-counts-again]")?.toggleAttribute("hidden", isRepeatable);
}

/** @param key in place of the one in the form; null: there is none. */
function enableForm(form: HTMLFormElement, key: string | null): void {
  const field = form.querySelector<HTMLInputElement>('input[name="idempotency_key"]');
  if (field === null) return;
  if (key !== null) field.value = key;
  const retryMs = Number(form.dataset.opens) * 1_000;
  const send = once(form, () => {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (typeof value === "string") fields.append(name, value);
    const known = storedOpening();
    if (known?.key !== field.value) store({ key: field.value, openedAt: null, repeatsUntil: 0 });
    return open(form.getAttribute("action") ?? "", fields, retryMs);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
}

/** @returns a function that does nothing while its work goes on. */
function once(element: HTMLElement, work: () => Promise<void>): () => void {
  return () => {
    if (element.ariaBusy === "true") return;
    element.ariaBusy = "true";
    void work().finally(() => {
      element.ariaBusy = null;
    });
  };
}

function wasReloaded(): boolean {
  const [navigation] = performance.getEntriesByType("navigation");
  return navigation instanceof PerformanceNavigationTiming && navigation.type === "reload";
}

/** The answers after which the key gives nothing any more. */
const keyEnds = [404, 422];

async function open(address: string, fields: URLSearchParams, retryMs = 0): Promise<void> {
  const failed = document.querySelector("[data-opening-failed]");
  failed?.setAttribute("hidden", "");
  const answer = await answerTo(address, fields);
  const opening = storedOpening();
  if (answer === null) {
    // The server may have counted the view: the same key shows its answer.
    failed?.removeAttribute("hidden");
    return;
  }
  if (answer.page.querySelector("[data-secret]") !== null && opening?.openedAt === null) {
    store({ ...opening, openedAt: Date.now(), repeatsUntil: Date.now() + retryMs });
  }
  if (keyEnds.includes(answer.status) && opening !== null) {
    if (opening.openedAt === null) withTabStorage((storage) => storage.removeItem(openingName));
    else store({ ...opening, repeatsUntil: 0 });
  }
  showPage(answer.page);
}

/** @returns null: no answer of this server came, so what has happened is unknown. */
async function answerTo(address: string, body: URLSearchParams) {
  try {
    const { status, text } = await textOf(await fetch(address, { method: "POST", body }));
    const page = new DOMParser().parseFromString(text, "text/html");
    return status >= 500 || page.querySelector("main#content") === null ? null : { status, page };
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

async function textOf(answer: Response) {
  return { status: answer.status, text: await answer.text() };
}

/** Each script of the page runs for it, because its address has an end of its own. */
function showPage(page: Document): void {
  document.title = page.title;
  // The card for chats describes the link.
  for (const card of document.head.querySelectorAll("meta[property]")) card.remove();
  document.body.replaceWith(document.importNode(page.body, true));
  scrollTo(0, 0);
  document.querySelector("main")?.focus();
  const end = document.scripts.length;
  for (const named of page.querySelectorAll<HTMLScriptElement>("script[src]")) {
    const script = document.createElement("script");
    const src = `${named.getAttribute("src")}#${end}`;
    Object.assign(script, { type: "module", src, integrity: named.integrity, async: false });
    document.head.append(script);
  }
  // A page from the browser's memory has lost its secret.
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
