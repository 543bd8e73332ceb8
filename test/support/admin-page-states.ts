import type { Page } from "playwright-core";
import { answerTo, sendForm } from "./browser-forms.ts";
import type { PageState } from "./page-state.ts";
import { administratorEmail, email, password } from "./visit.ts";

/** Longer than any line, without a break opportunity. */
const unbroken = "https://example.com/".concat("averylongpathwithoutanyplacetobreakit".repeat(8));

const files = [{ filename: "a.txt", content_type: "text/plain", data: "YQ==" }];

/** Finds the user in the list. */
export async function openUser(page: Page, email: string): Promise<void> {
  await page.goto(`/admin/users?q=${email}`);
  await page.getByRole("link", { name: email, exact: true }).click();
  await page.waitForURL(/\/admin\/users\/\d+$/);
}

/** For a button that is outside its form. */
async function sendFormOf(page: Page, formId: string): Promise<void> {
  const button = page.locator(`.button-primary[form=${formId}]`);
  await answerTo(page, () => button.click());
}

/** Ends on the page of the group. */
async function makeGroup(page: Page, name: string, { sharesActivity = false } = {}): Promise<void> {
  await page.goto("/admin/groups");
  const making = page.locator("main details").first();
  await making.locator("summary").click();
  await making.locator("#name").fill(name);
  await making.locator("#sharesActivity").setChecked(sharesActivity);
  await answerTo(page, () => making.locator("button[type=submit]").click());
}

async function addMembers(page: Page): Promise<void> {
  const adding = page.locator("main details").first();
  await adding.locator("summary").click();
  await adding.locator("#members").fill(`${email}, ${administratorEmail}`);
  await answerTo(page, () => adding.locator("button[type=submit]").click());
}

/** Ends on the page of the presets, with one in the list. */
async function makePreset(page: Page, path: string): Promise<void> {
  await page.goto(path);
  const form = page.locator("main form.form");
  await form.locator("#name").fill(`${"averylongpreset".repeat(4)}`);
  await form.locator("#fields").fill(`${"averylonglabel".repeat(4)}:secret`);
  await answerTo(page, () => form.locator("button[type=submit]").click());
}

const presetStates: readonly PageState[] = [
  { name: "presets of an account", signedIn: true, show: (page) => makePreset(page, "/users/edit/presets") },
  { name: "administration, presets", signedIn: "administrator", show: (page) => makePreset(page, "/admin/presets") },
  {
    name: "administration, presets of a group",
    signedIn: "administrator",
    async show(page) {
      await makeGroup(page, "a group with presets");
      await makePreset(page, `${page.url()}/presets`);
    },
  },
];

/** What members of a group see of each other. */
const activityStates: readonly PageState[] = (["members", "pushes", "trail"] as const).map((shown) => ({
  name: `activity of a group, ${shown}`,
  signedIn: "administrator",
  async show(page, site) {
    await site.push({ payload: "secret", name: `${"averylongname".repeat(20)}` }, "owned");
    await makeGroup(page, `${shown}${"averylonggroup".repeat(3)}`, { sharesActivity: true });
    await addMembers(page);
    await page.goto(`/groups/${page.url().split("/").at(-1)}`);
    if (shown === "members") return;
    await page.getByRole("link", { name: email, exact: true }).click();
    await page.waitForURL(/\/members\/\d+$/);
    if (shown === "pushes") return;
    await page.locator("main tbody a").first().click();
    await page.waitForURL(/\/pushes\/\d+$/);
  },
}));

/** The administration pages, with the content that is hardest to lay out. */
export const adminPageStates: readonly PageState[] = [
  {
    name: "administration, overview",
    signedIn: "administrator",
    show: (page) => page.goto("/admin"),
  },
  {
    name: "administration, users",
    signedIn: "administrator",
    async show(page, site) {
      const longEmail = `${"averylongaddress".repeat(3)}@${"averylongdomain".repeat(3)}.example.com`;
      const body = new URLSearchParams({ email: longEmail, password, password_confirmation: password });
      await site.fetch("/users/sign_up", { method: "POST", headers: { "sec-fetch-site": "same-origin" }, body });
      await page.goto("/admin/users");
    },
  },
  {
    name: "administration, a user",
    signedIn: "administrator",
    async show(page, site) {
      // Live links, which can be ended there.
      await site.push({ payload: "secret" }, "owned");
      await openUser(page, email);
      await page.locator("main .row-actions summary").nth(1).click();
    },
  },
  {
    name: "administration, the last administrator",
    signedIn: "administrator",
    async show(page) {
      await openUser(page, administratorEmail);
      const action = page.locator("main .row-actions details").first();
      await action.locator("summary").click();
      await answerTo(page, () => action.locator("button[type=submit]").click());
    },
  },
  {
    name: "administration, sessions",
    signedIn: "administrator",
    async show(page) {
      await page.goto("/admin/sessions");
      await page.locator("tbody input[type=checkbox]").first().check();
    },
  },
  {
    name: "administration, pushes",
    signedIn: "administrator",
    async show(page, site) {
      await site.push({ payload: "secret", files, passphrase: "phrase", expire_after_views: 100 }, "owned");
      const { urlToken } = await site.push({ kind: "qr", payload: "secret", expire_after_views: 1 });
      await site.fetch(`/api/v2/pushes/${urlToken}`);
      await page.goto("/admin/pushes");
      await page.locator("details.confirm summary").first().click();
    },
  },
  {
    name: "administration, a push",
    signedIn: "administrator",
    async show(page, site) {
      const { urlToken } = await site.push({ payload: "secret", files, passphrase: "phrase" }, "owned");
      await site.fetch(`/api/v2/pushes/${urlToken}?passphrase=wrong`, { headers: { "user-agent": "u".repeat(200) } });
      await page.goto("/admin/pushes");
      await page.locator("tbody th a").first().click();
      await page.waitForURL(/\/admin\/pushes\/\d+$/);
      await page.locator("main summary").first().click();
    },
  },
  {
    name: "administration, pushes of an unknown owner",
    signedIn: "administrator",
    show: (page) => page.goto("/admin/pushes?owner=nobody@example.com&before=1"),
  },
  {
    name: "administration, form for deleting many pushes, with mistakes",
    signedIn: "administrator",
    show: (page) => page.goto(`/admin/pushes/end?network=${unbroken}&older_hours=-1&larger_mib=1.5&owners=owned`),
  },
  {
    name: "administration, deleting many pushes without a restriction",
    signedIn: "administrator",
    show: (page) => page.goto("/admin/pushes/end?network=&older_hours=&larger_mib=&owners=all"),
  },
  {
    name: "administration, preview of deleting many pushes",
    signedIn: "administrator",
    async show(page, site) {
      await site.push({ payload: "secret" });
      await page.goto("/admin/pushes/end?network=127.0.0.1&older_hours=&larger_mib=&owners=all");
    },
  },
  {
    name: "administration, many pushes deleted",
    signedIn: "administrator",
    async show(page, site) {
      await site.push({ payload: "secret" });
      await page.goto("/admin/pushes/end?network=127.0.0.0/8&older_hours=0&larger_mib=0&owners=anonymous");
      await sendForm(page);
    },
  },
  { name: "administration, failed mails", signedIn: "administrator", show: (page) => page.goto("/admin/mails?page=2") },
  { name: "administration, jobs", signedIn: "administrator", show: (page) => page.goto("/admin/jobs?done=retried") },
  { name: "administration, settings", signedIn: "administrator", show: (page) => page.goto("/admin/settings") },
  {
    name: "administration, settings, nothing found",
    signedIn: "administrator",
    show: (page) => page.goto("/admin/settings?q=nosuchsetting"),
  },
  {
    name: "administration, users, nothing found",
    signedIn: "administrator",
    show: (page) => page.goto("/admin/users?q=nosuchuser&page=2"),
  },
  {
    name: "administration, a group with members",
    signedIn: "administrator",
    async show(page) {
      await makeGroup(page, `${"averylonggroup".repeat(4)}`);
      await addMembers(page);
    },
  },
  ...activityStates,
  ...presetStates,
  {
    name: "administration, groups",
    signedIn: "administrator",
    show: (page) => page.goto("/admin/groups"),
  },
  {
    name: "administration, rules of a group",
    signedIn: "administrator",
    async show(page) {
      await makeGroup(page, "a group with rules");
      await page.goto(`${page.url()}/rules`);
    },
  },
  {
    name: "administration, service tokens of a group",
    signedIn: "administrator",
    async show(page) {
      await makeGroup(page, "a group with service tokens");
      await page.goto(`${page.url()}/tokens`);
    },
  },
  {
    name: "administration, pushes of service tokens",
    signedIn: "administrator",
    async show(page) {
      await makeGroup(page, "a group with pushes");
      await page.goto(`${page.url()}/pushes`);
    },
  },
  {
    name: "administration, rules of everybody else",
    signedIn: "administrator",
    show: (page) => page.goto("/admin/groups/else/rules"),
  },
  {
    name: "administration, a group to be deleted",
    signedIn: "administrator",
    async show(page) {
      await makeGroup(page, "a group to be deleted");
      await answerTo(page, () => page.locator("form[action$='/delete'] button").click());
    },
  },
  { name: "administration, rules", signedIn: "administrator", show: (page) => page.goto("/admin/rules") },
  { name: "administration, theme", signedIn: "administrator", show: (page) => page.goto("/admin/look") },
  {
    name: "administration, theme with a mistake",
    signedIn: "administrator",
    async show(page) {
      await page.goto("/admin/look");
      await page.locator("#style").fill(`a { background: url(${unbroken}) }`);
      await sendFormOf(page, "style_form");
    },
  },
  {
    name: "administration, trail",
    signedIn: "administrator",
    show: (page) => page.goto("/admin/trail"),
  },
];
