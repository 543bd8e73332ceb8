import type { Page } from "playwright-core";
import { en } from "../../src/words/en.ts";
import type { Words } from "../../src/words/words.ts";

/** What the form of a new push shows a person; each by what the person sees of it. */
export function newPushForm(page: Page, { newPush: words }: Pick<Words, "newPush"> = en) {
  const field = (label: string) => page.getByLabel(label, { exact: true });
  return {
    payload: page.locator("#push_payload"),
    files: field(words.files).and(page.locator("input")),
    days: field(words.days),
    views: field(words.views),
    passphrase: field(words.passphrase),
    retrievalStep: field(words.retrievalStep),
    deletable: field(words.deletable),
    name: field(words.name),
    note: field(words.note),
    submit: page.getByRole("button", { name: words.submit }),
  };
}

/** Sends the form and waits for the link's page. @returns the link that is handed out. */
export async function createLink(page: Page): Promise<string> {
  await newPushForm(page).submit.click();
  return page.getByLabel(en.created.link, { exact: true }).inputValue();
}

/** @returns the path and query of a link: what the server was asked for under its own address. */
export function pathOf(link: string): string {
  const { pathname, search } = new URL(link);
  return `${pathname}${search}`;
}

export function urlTokenOf(link: string): string {
  return /^\/p\/([^/]+)/.exec(new URL(link).pathname)?.[1] ?? "";
}
