import type { Page } from "playwright-core";
import { adminPageStates } from "./admin-page-states.ts";
import { answerTo, fillDays, sendForm } from "./browser-forms.ts";
import type { PageState } from "./page-state.ts";
import type { Site } from "./site.ts";
import { email, password } from "./visit.ts";

async function openPush(page: Page, site: Site, fields: Readonly<Record<string, unknown>>): Promise<void> {
  await page.goto((await site.push(fields, "owned")).path);
  await sendForm(page);
}

async function sendMistakes(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.evaluate("for (const form of document.forms) form.noValidate = true");
  await fillDays(page, "0");
  await page.locator("#push_expire_after_views").fill("1000");
  await sendForm(page);
}

/** Longer than any line, without a break opportunity. */
const unbroken = "https://example.com/".concat("averylongpathwithoutanyplacetobreakit".repeat(8));
const text = `Postgres, production\nuser: reporting\npassword: ${"quartz-lantern-willow-93".repeat(4)}`;
const files = [
  { filename: `${"a-long-name-of-a-file-".repeat(6)}.tar.gz`, content_type: "application/gzip", data: "YQ==" },
  { filename: "b.txt", content_type: "text/plain", data: "" },
];

/** Every page in every state that looks different, with the content that is hardest to lay out. */
export const pageStates: readonly PageState[] = [
  {
    name: "form for a text, with the generator",
    async show(page) {
      await page.goto("/");
      await page.locator(".generator summary").click();
    },
  },
  { name: "form for an address", show: (page) => page.goto("/?kind=url") },
  { name: "form for a QR code", show: (page) => page.goto("/?kind=qr") },
  { name: "form for files, signed out", show: (page) => page.goto("/?kind=file") },
  {
    name: "form for files, chosen",
    signedIn: true,
    async show(page) {
      await page.goto("/?kind=file");
      const chosen = files.map(({ filename: name }) => ({ name, mimeType: "text/plain", buffer: Buffer.from("a") }));
      await page.locator("#push_files").setInputFiles(chosen);
    },
  },
  {
    name: "form with a shared text",
    async show(page) {
      await page.goto("/about");
      await page.evaluate(`(() => {
        const form = document.createElement("form");
        Object.assign(form, { method: "post", action: "/share" });
        for (const [name, value] of [["title", "Router"], ["text", "wifi-${"quartz".repeat(40)}"]]) {
          form.append(Object.assign(document.createElement("input"), { name, value }));
        }
        document.body.append(form);
        form.submit();
      })()`);
      await page.waitForURL("**/share");
    },
  },
  {
    name: "form like another push",
    signedIn: true,
    async show(page, site) {
      const { urlToken } = await site.push({ payload: "secret", kind: "text" }, "owned");
      await page.goto(`/p/${urlToken}/another`);
    },
  },
  { name: "form with mistakes", show: (page) => sendMistakes(page, "/") },
  { name: "form for files with mistakes", signedIn: true, show: (page) => sendMistakes(page, "/?kind=file") },
  {
    name: "link",
    async show(page, site) {
      const { urlToken } = await site.push({ payload: "secret", passphrase: "phrase", deletable_by_viewer: true });
      await page.goto(`/p/${urlToken}/preview?recipient=ar`);
      await page.evaluate(() => {
        for (const panel of document.querySelectorAll<HTMLInputElement>(".panel-toggle input")) panel.checked = true;
      });
      await page.locator("details.confirm summary").click();
    },
  },
  {
    name: "link, for its owner",
    signedIn: true,
    async show(page, site) {
      const { urlToken } = await site.push({ payload: "secret", kind: "text" }, "owned");
      await page.goto(`/p/${urlToken}/preview`);
    },
  },
  { name: "step", show: async (page, site) => page.goto((await site.push({ payload: "secret" })).path) },
  { name: "wrong passphrase", show: (page, site) => openWrongly(page, site, 1) },
  { name: "too many passphrase attempts", show: (page, site) => openWrongly(page, site, 6) },
  {
    name: "text, veiled",
    show: (page, site) => openPush(page, site, { payload: text, deletable_by_viewer: true }),
  },
  {
    name: "text, shown on the last view",
    async show(page, site) {
      await openPush(page, site, { payload: text, expire_after_views: 1 });
      await page.locator("[data-veil] > summary").click();
    },
  },
  {
    name: "fields",
    async show(page, site) {
      const label = "unbroken".repeat(8);
      const fields = [
        { label, value: unbroken },
        { label: "Password", value: unbroken, type: "secret" },
        { label: "Code", value: "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP", type: "otp" },
      ];
      await openPush(page, site, { fields });
    },
  },
  { name: "address", show: (page, site) => openPush(page, site, { kind: "url", payload: unbroken }) },
  {
    name: "QR code",
    async show(page, site) {
      await openPush(page, site, { kind: "qr", payload: unbroken, deletable_by_viewer: true });
      await page.locator("[data-veil] > summary").click();
      await page.locator("details.disclosure summary").click();
      await page.locator(".secret-menu > summary").click();
      await page.locator("details.confirm summary").click();
    },
  },
  { name: "files", show: (page, site) => openPush(page, site, { payload: text, files }) },
  {
    name: "deleted",
    async show(page, site) {
      await openPush(page, site, { payload: "secret", deletable_by_viewer: true });
      await page.locator(".secret-menu > summary").click();
      await page.locator("details.confirm summary").click();
      await sendForm(page);
    },
  },
  { name: "about", show: (page) => page.goto("/about") },
  { name: "reference of the old API", show: (page) => page.goto("/api") },
  { name: "sign-out", signedIn: true, show: (page) => page.goto("/users/sign_out") },
  { name: "new password, with a link", show: (page) => page.goto("/users/password/edit?reset_password_token=x") },
  { name: "confirmation, another email", show: (page) => page.goto("/users/confirmation/new") },
  { name: "email address changed", show: (page) => page.goto("/users/confirmation/new_email/done") },
  { name: "gone", show: (page) => page.goto("/p/unknown") },
  { name: "page for a robot", userAgent: "Slackbot-LinkExpanding 1.0", show: (page) => page.goto("/p/unknown") },
  { name: "old address of a file", show: (page) => page.goto("/pfb/x") },
  { name: "failure", show: (page) => page.goto("/there/is/no/such/page") },
  {
    name: "sign-up with mistakes",
    async show(page) {
      await page.goto("/users/sign_up");
      await page.evaluate("for (const form of document.forms) form.noValidate = true");
      await page.locator("#email").fill("averylongaddresswithoutanyplacetobreak".repeat(3));
      await page.locator("#password").fill("password1234");
      await sendForm(page);
    },
  },
  { name: "password reset on a server without email", show: (page) => page.goto("/users/password/new") },
  { name: "confirmation with an invalid link", show: (page) => page.goto("/users/confirmation?confirmation_token=x") },
  {
    name: "sign-in, refused",
    async show(page) {
      await page.goto("/users/sign_in");
      await page.locator("#email").fill("nobody@example.com");
      await page.locator("#password").fill("wrong");
      await sendForm(page);
    },
  },
  {
    name: "account with several sessions",
    signedIn: true,
    async show(page, site) {
      const userAgent = `${"AVeryLongNameOfAProgram".repeat(4)}/1.0`;
      const form = new URLSearchParams({ email, password });
      await site.fetch("/users/sign_in", {
        method: "POST",
        headers: { "user-agent": userAgent, "sec-fetch-site": "same-origin" },
        body: form,
      });
      await page.goto("/users/edit?done=sessions");
    },
  },
  ...["general", "access", "defaults", "data"].map(
    (tab): PageState => ({
      name: `account, ${tab}`,
      signedIn: true,
      async show(page) {
        await page.goto(`/users/edit?tab=${tab}`);
        for (const details of await page.locator("main details > summary").all()) await details.click();
      },
    }),
  ),
  {
    name: "account with mistakes",
    signedIn: true,
    async show(page) {
      await page.goto("/users/edit?tab=defaults");
      await page.evaluate("for (const form of document.forms) form.noValidate = true");
      await page.locator(".account-kind summary").first().click();
      await page.locator("#text_days").fill("0");
      await page.locator("#text_views").fill("1000");
      await answerTo(page, () => page.locator("#defaults_section button").click());
    },
  },
  {
    name: "confirmation of an email address with an invalid link",
    show: (page) => page.goto("/users/confirmation/new_email?token=x"),
  },
  { name: "account deleted", show: (page) => page.goto("/users/deleted") },
  {
    name: "dashboard",
    signedIn: true,
    async show(page, site) {
      const name = "averylongnamewithoutaplacetobreak".repeat(4);
      await site.push({ payload: text, name, note: unbroken, passphrase: "phrase", expire_after_views: 100 }, "owned");
      const { urlToken } = await site.push({ payload: text, expire_after_views: 1 }, "owned");
      await site.fetch(`/api/v2/pushes/${urlToken}`);
      await page.goto("/p");
      await page.locator("tbody input").first().check();
    },
  },
  {
    name: "dashboard, deleting",
    signedIn: true,
    async show(page, site) {
      await site.push({ payload: text, name: "averylongnamewithoutaplacetobreak".repeat(4) }, "owned");
      await page.goto("/p");
      await page.locator("tbody button").first().click();
    },
  },
  { name: "dashboard, without pushes", signedIn: "administrator", show: (page) => page.goto("/p") },
  { name: "requests, none", signedIn: "administrator", show: (page) => page.goto("/requests") },
  { name: "requests, form", signedIn: true, show: (page) => page.goto("/requests/new") },
  { name: "requests, unknown", show: (page) => page.goto("/requests/unknown") },
  { name: "tokens, none", signedIn: "administrator", show: (page) => page.goto("/users/token") },
  { name: "dashboard, nothing found", signedIn: true, show: (page) => page.goto("/p?q=no+such+push&kind=qr&page=2") },
  {
    name: "edit, a text",
    signedIn: true,
    async show(page, site) {
      const { urlToken } = await site.push({ payload: text, name: "VPN", expire_after_views: 3 }, "owned");
      await site.fetch(`/api/v2/pushes/${urlToken}`);
      await page.goto(`/p/${urlToken}/edit`);
      await page.locator("details.confirm summary").click();
    },
  },
  {
    name: "edit, protected files, with mistakes",
    signedIn: true,
    async show(page, site) {
      const name = "averylongnamewithoutaplacetobreak".repeat(4);
      const { urlToken } = await site.push({ payload: text, files, name, passphrase: "phrase" }, "owned");
      await page.goto(`/p/${urlToken}/edit`);
      await page.locator("input[name='push[remove_files][]']").first().check();
      await page.locator("#push_files").setInputFiles({ name: "c", mimeType: "text/plain", buffer: Buffer.from("c") });
      await page.locator("#push_current_passphrase").fill("wrong");
      await sendForm(page);
    },
  },
  {
    name: "edit, changed meanwhile",
    signedIn: true,
    async show(page, site) {
      const { urlToken } = await site.push({ payload: text, files }, "owned");
      await page.goto(`/p/${urlToken}/edit`);
      const box = page.locator("input[name='push[remove_files][]']").first();
      await box.check();
      await box.evaluate((input) => input.setAttribute("value", "1000000"));
      await sendForm(page);
    },
  },
  {
    name: "audit trail",
    signedIn: true,
    async show(page, site) {
      const name = "averylongnamewithoutaplacetobreak".repeat(4);
      const { urlToken } = await site.push({ payload: text, name, passphrase: "phrase" }, "owned");
      for (const passphrase of ["wrong", "phrase"]) {
        const headers = { "user-agent": "unbroken".repeat(40), referer: unbroken };
        await site.fetch(`/api/v2/pushes/${urlToken}?passphrase=${passphrase}`, { headers });
      }
      await page.goto(`/p/${urlToken}/audit`);
      await page.locator(".as-sent summary").first().click();
      await page.locator("details.confirm summary").first().click();
    },
  },
  {
    name: "tokens",
    signedIn: true,
    async show(page) {
      await page.goto("/users/token");
      await page.locator("#name").fill("averylongnamewithoutaplacetobreak".repeat(4));
      await page.locator("#may_read").check();
      await page.locator("#expires_in_days").selectOption("90");
      await page.locator("#networks").fill("192.0.2.0/24\n2001:db8:1111:2222:3333:4444:5555:6666\n10.0.0.0/8");
      await sendForm(page);
      await page.locator("details.confirm summary").first().click();
    },
  },
  {
    name: "tokens with mistakes",
    signedIn: true,
    async show(page) {
      await page.goto("/users/token");
      await page.locator("#name").fill(" ");
      for (const scope of ["create", "read", "expire"]) await page.locator(`#may_${scope}`).uncheck();
      await page.locator("#networks").fill("averylongnamewithoutaplacetobreak".repeat(4));
      await sendForm(page);
    },
  },
  ...adminPageStates,
  { name: "API reference", show: (page) => page.goto("/help/api") },
];

async function openWrongly(page: Page, site: Site, attempts: number): Promise<void> {
  const { path } = await site.push({ payload: "secret", passphrase: "phrase" });
  await page.goto(path);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await page.locator("#passphrase").fill("wrong");
    await sendForm(page);
  }
}
