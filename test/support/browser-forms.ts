import type { Page, Response } from "playwright-core";
import { en, type Messages } from "../../src/i18n/i18n.ts";

/** The controls of the form for a new push, located by their visible labels. */
export function newPushForm(page: Page, { newPush: messages }: Pick<Messages, "newPush"> = en) {
  const field = (label: string) => page.getByLabel(label, { exact: true });
  return {
    payload: page.locator("#push_payload"),
    files: field(messages.files).and(page.locator("input")),
    expiry: field(messages.expiry),
    days: field(messages.days),
    views: field(messages.views),
    passphrase: field(messages.passphrase),
    /** The line that opens the options, labels and emails. */
    more: page.locator("details.more > summary"),
    retrievalStep: field(messages.retrievalStep),
    deletable: field(messages.deletable),
    name: field(messages.name),
    note: field(messages.note),
    submit: page.getByRole("button", { name: messages.submit }),
  };
}

export function kindTab(page: Page, name: string) {
  return page.getByRole("group", { name: en.kinds.label }).getByRole("button", { name });
}

/** Chooses a number of days instead of one of the usual times. */
export async function fillDays(page: Page, days: string): Promise<void> {
  await page.locator("#push_expire_after_duration").selectOption("");
  await page.locator("#push_expire_after_days").fill(days);
}

/** Sends the form and waits for the page of the link. @returns the link that is handed out. */
export async function createLink(page: Page): Promise<string> {
  await newPushForm(page).submit.click();
  const link = await page.getByLabel(en.created.link, { exact: true }).inputValue();
  // Its scripts have run by then.
  await page.waitForLoadState();
  return link;
}

/** @returns the path and query of a link. */
export function pathOf(link: string): string {
  const { pathname, search } = new URL(link);
  return `${pathname}${search}`;
}

export function urlTokenOf(link: string): string {
  return /^\/p\/([^/]+)/.exec(new URL(link).pathname)?.[1] ?? "";
}

const submit = "main form[method=post] button[type=submit]";

/** Presses the first submit button that the page shows, and waits for the answer to the form. */
export async function sendForm(page: Page): Promise<void> {
  await answerTo(page, () => page.locator(submit).filter({ visible: true }).first().click());
  // The script of a form that stays shows the answer afterwards.
  await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
}

/** Does what sends a form, and waits until the answer has come and its page has loaded. @returns the answer to the POST. */
export async function answerTo(page: Page, act: () => Promise<unknown>): Promise<Response> {
  // waitForLoadState() would return at once while the page that was left is still shown.
  const nextPage = new Promise((resolve) => page.once("load", resolve));
  const [answer] = await Promise.all([
    // A form that stays is sent by fetch. Scripts send files and ask for a preview of a theme before it, by other requests.
    page.waitForResponse((response) => {
      const request = response.request();
      if (request.method() !== "POST") return false;
      const isPreview = request.postData()?.includes('name="preview"') === true;
      return request.isNavigationRequest() || (request.resourceType() === "fetch" && !isPreview);
    }),
    act(),
  ]);
  if (answer.request().isNavigationRequest()) await nextPage;
  return answer;
}

/** Does what copies, and waits until the page has announced it, which it shows for seconds only. */
export async function copyBy(page: Page, act: () => Promise<unknown>): Promise<void> {
  const announcement = await page.evaluateHandle((copied) => {
    const isShown = ({ target }: MutationRecord) => {
      if (!(target instanceof HTMLElement) || !target.matches('[role="status"]')) return false;
      return target.textContent.includes(copied) && target.getBoundingClientRect().height > 0;
    };
    const shown = new Promise<void>((resolve) => {
      const observe = (changes: readonly MutationRecord[]) => changes.some(isShown) && resolve();
      new MutationObserver(observe).observe(document, { childList: true, subtree: true });
    });
    return { shown };
  }, en.actions.copied);
  await act();
  await announcement.evaluate(({ shown }) => shown);
}

/** Shows a part of the page of a link that is folded at first. */
export async function unfold(page: Page, label: string): Promise<void> {
  await page.locator(".panel-toggle").filter({ hasText: label }).click();
}
