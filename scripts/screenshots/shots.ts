import type { Page } from "playwright-core";
import type { ShownPush } from "./instance.ts";

export interface Shot {
  readonly name: string;
  /** Navigates the browser to the page of the screenshot. */
  readonly prepare: (page: Page, origin: string) => Promise<unknown>;
}

const secretText = "Postgres, production\nuser: reporting\npassword: quartz-lantern-willow-93";

export async function writeSecret(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/`);
  await page.locator("#push_payload").fill(secretText);
  await page.locator("#push_expire_after_views").fill("3");
}

export async function makePush(page: Page, origin: string): Promise<void> {
  await writeSecret(page, origin);
  await page.locator("form[action^='/p'] button[type=submit]").click();
  await page.locator("#link").waitFor();
}

async function openLink(page: Page, origin: string): Promise<void> {
  await makePush(page, origin);
  const link = new URL(await page.locator("#link").inputValue());
  await page.goto(`${origin}${link.pathname}`);
}

async function openSecret(page: Page, origin: string): Promise<void> {
  await openLink(page, origin);
  await page.locator("main form button[type=submit]").click();
  await page.locator("[data-veil] > summary").click();
}

/** Pages for everybody. */
export const publicShots: readonly Shot[] = [
  { name: "new-push", prepare: (page, origin) => page.goto(`${origin}/`) },
  { name: "new-push-arabic", prepare: (page, origin) => page.goto(`${origin}/?locale=ar`) },
  { name: "link-ready", prepare: makePush },
  { name: "before-opening", prepare: openLink },
  { name: "secret", prepare: openSecret },
];

/** Pages for an administrator who is signed in. */
export function ownerShots({ urlToken }: ShownPush): readonly Shot[] {
  const at = (name: string, path: string): Shot => ({ name, prepare: (page, origin) => page.goto(`${origin}${path}`) });
  return [
    at("dashboard", "/p"),
    at("audit", `/p/${urlToken}/audit`),
    at("edit", `/p/${urlToken}/edit`),
    at("account", "/users/edit"),
    at("second-factors", "/users/factors"),
    at("authenticator-app", "/users/factors/authenticator_app"),
    at("tokens", "/users/token"),
    at("admin", "/admin"),
    at("admin-users", "/admin/users"),
    at("admin-look", "/admin/look"),
  ];
}
