import type { Locator, Page, Request, Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, newPushForm, urlTokenOf } from "../support/browser-forms.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";
import { email, password } from "../support/visit.ts";

const site = openSite({ PWP__FILES__ALLOW_ANONYMOUS: "true" });
const { sending, failure, newPush, problems } = en;
const secret = "canary-7f3a typed secret";
const file = { name: "plan.txt", mimeType: "text/plain", buffer: Buffer.from("the plan") };

/** Uploads that a push has taken already, or that were begun without this session. */
const takenUploads = /^\/uploads\/[\w-]+ answered 404$|ERR_FAILED/;

const alert = (page: Page) => page.locator("[data-form-messages]").getByRole("alert");

/** Fills the form and chooses a file. */
async function fill(page: Page): Promise<void> {
  await page.goto("/?kind=file");
  const form = newPushForm(page);
  await form.payload.fill(secret);
  await form.passphrase.fill("a phrase");
  await form.files.setInputFiles(file);
}

async function expectKept(page: Page): Promise<void> {
  const form = newPushForm(page);
  expect(new URL(page.url()).pathname).toBe("/");
  expect(await form.payload.inputValue()).toBe(secret);
  expect(await form.passphrase.inputValue()).toBe("a phrase");
  expect(
    await form.files.evaluate((field) => [...((field as HTMLInputElement).files ?? [])].map(({ name }) => name)),
  ).toEqual(["plan.txt"]);
  expect(await page.evaluate(storedTexts)).not.toContain("canary");
  expect(await alert(page).evaluate((element) => element === document.activeElement)).toBe(true);
}

/** Everything that the page's origin has stored in this browser, apart from cookies that scripts cannot read. */
async function storedTexts(): Promise<string> {
  const databases = await indexedDB.databases();
  const caches_ = await caches.keys();
  return JSON.stringify([
    { ...localStorage },
    { ...sessionStorage },
    databases,
    caches_,
    document.cookie,
    history.state,
  ]);
}

/** Sends the form again: it must be complete. */
async function sendAgain(page: Page): Promise<void> {
  const urlToken = urlTokenOf(await createLink(page));
  await site.ownPush(urlToken);
  const opened = await (await site.fetch(`/api/v2/pushes/${urlToken}?passphrase=a%20phrase`)).json();
  expect(opened).toMatchObject({ payload: secret, files: [{ filename: "plan.txt" }] });
}

const isCreate = (url: URL) => url.pathname === "/p";
describe("a form that was not accepted stays, with its files", () => {
  it("after the network fails before the form arrives", async () => {
    const { page } = await site.visit({ signedIn: true, expectedErrors: takenUploads });
    await fill(page);
    await page.route(isCreate, (route) => route.abort(), { times: 1 });
    await newPushForm(page).submit.click();
    await alert(page).getByText(sending.unanswered).waitFor();
    await expectKept(page);
    await sendAgain(page);
  });

  it("after the answer is lost, and then creates no second push", async () => {
    const { page } = await site.visit({ signedIn: true, expectedErrors: takenUploads });
    await fill(page);
    let created = "";
    await page.route(
      isCreate,
      async (route) => {
        const answer = await route.fetch({ maxRedirects: 0 });
        created = answer.headers().location ?? "";
        await route.abort();
      },
      { times: 1 },
    );
    await newPushForm(page).submit.click();
    await alert(page).getByText(sending.unanswered).waitFor();
    await expectKept(page);
    const urlToken = urlTokenOf(await createLink(page));
    expect(created).toBe(`/p/${urlToken}/preview`);
  });

  it.each([
    [429, `<h1>Too many</h1><p data-failure>Wait.</p>`, "Too many"],
    [503, "<h1>a proxy</h1>", sending.failedHeading],
    [502, "", sending.failedHeading],
  ])("after an answer with status %i", async (status, body, heading) => {
    const { page } = await site.visit({
      signedIn: true,
      expectedErrors: new RegExp(`/p (answered ${status}|allows|has no)`),
    });
    await fill(page);
    const answer = { status, body, contentType: "text/html" };
    await page.route(isCreate, (route) => route.fulfill(answer), { times: 1 });
    await newPushForm(page).submit.click();
    await alert(page).getByRole("heading", { name: heading }).waitFor();
    await expectKept(page);
    expect(await alert(page).textContent()).toContain("are still here");
    await sendAgain(page);
  });

  it("with a problem, which is shown at its field and gone after the next attempt", async () => {
    const { page } = await site.visit({ signedIn: true });
    await fill(page);
    const form = newPushForm(page);
    await page.evaluate("for (const form of document.forms) form.noValidate = true;");
    await form.views.fill("0");
    await form.submit.click();
    await alert(page).getByRole("heading", { name: problems.heading }).waitFor();
    await expectKept(page);
    const range = problems.range({ min: 1, max: 100 });
    expect(await page.locator("#push_expire_after_views_problem").textContent()).toBe(range);
    expect(await form.views.getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByText(newPush.filesAgain).count()).toBe(0);
    await form.views.fill("2");
    await form.more.click();
    await form.name.fill("n".repeat(2_049));
    await form.more.click();
    await form.submit.click();
    await page.locator("#push_name_problem").waitFor();
    expect(await page.locator("#push_expire_after_views_problem").count()).toBe(0);
    expect(await form.views.getAttribute("aria-invalid")).toBe(null);
  });

  it("after its session has ended, and is sent for the same account after signing in again in another tab", async () => {
    const { page, context } = await site.visit({ signedIn: true, expectedErrors: takenUploads });
    await fill(page);
    await context.clearCookies();
    await newPushForm(page).submit.click();
    await alert(page).getByText(sending.signedOut).waitFor();
    await expectKept(page);
    await expectAccessibleLayout(page);
    const [tab] = await Promise.all([
      context.waitForEvent("page"),
      page.getByRole("link", { name: sending.signIn }).click(),
    ]);
    await signInAt(tab);
    await sendAgain(page);
  });

  it("after its session has ended, and can be sent without an account", async () => {
    const { page, context } = await site.visit({ signedIn: true, expectedErrors: takenUploads });
    await fill(page);
    await context.clearCookies();
    await newPushForm(page).submit.click();
    await page.getByRole("button", { name: sending.createWithout }).click();
    const link = await page.getByLabel(en.created.link, { exact: true }).inputValue();
    await expect(site.ownPush(urlTokenOf(link))).rejects.toThrow("no such push");
  });
});

it("an edit stays after its session has ended, and is saved after signing in again", async () => {
  const { urlToken } = await site.push({ payload: "x", name: "before" }, "owned");
  const { page, context } = await site.visit({ signedIn: true });
  await page.goto(`/p/${urlToken}/edit`);
  const { note } = newPushForm(page);
  await note.fill("a long note");
  const cookies = await context.cookies();
  await context.clearCookies();
  const save = page.getByRole("button", { name: en.edit.submit });
  await save.click();
  await alert(page).getByText(failure.signedOutText).waitFor();
  expect(await note.inputValue()).toBe("a long note");
  expect(await alert(page).getByRole("link", { name: sending.signIn }).count()).toBe(1);
  await expectAccessibleLayout(page);
  await context.addCookies(cookies);
  await Promise.all([page.waitForURL(/preview/), save.click()]);
  expect(await site.ownPush(urlToken)).toMatchObject({ note: "a long note" });
});

it("an edit comes back filled without scripts after its session has ended, and is saved after signing in again", async () => {
  const { urlToken } = await site.push({ payload: "x", name: "before", passphrase: "phrase" }, "owned");
  const { page, context } = await site.visit({ signedIn: true, javaScriptEnabled: false });
  await page.goto(`/p/${urlToken}/edit`);
  const { note, views } = newPushForm(page);
  const payload = page.getByLabel(en.edit.newContent.text, { exact: true });
  await note.fill("a long note");
  await views.fill("7");
  await payload.fill(secret);
  await page.getByLabel(en.edit.currentPassphrase, { exact: true }).fill("phrase");
  await context.clearCookies();
  const save = page.getByRole("button", { name: en.edit.submit });
  await save.click();
  await alert(page).getByText(sending.signedOut).waitFor();
  expect(await payload.inputValue()).toBe(secret);
  const [tab] = await Promise.all([
    context.waitForEvent("page"),
    page.getByRole("link", { name: sending.signIn }).click(),
  ]);
  await signInAt(tab);
  await page.getByLabel(en.edit.currentPassphrase, { exact: true }).fill("phrase");
  await Promise.all([page.waitForURL(/preview/), save.click()]);
  expect(await site.ownPush(urlToken)).toMatchObject({ note: "a long note", name: "before", expire_after_views: 7 });
  const opened = await site.fetch(`/api/v2/pushes/${urlToken}?passphrase=phrase`);
  expect(await opened.json()).toMatchObject({ payload: secret });
});

it("an edit of files asks for the new ones again without scripts after its session has ended", async () => {
  const data = Buffer.from("old").toString("base64");
  const files = [{ filename: "old.txt", content_type: "text/plain", data }];
  const { urlToken } = await site.push({ payload: secret, files }, "owned");
  const { page, context } = await site.visit({ signedIn: true, javaScriptEnabled: false });
  await page.goto(`/p/${urlToken}/edit`);
  const field = page.locator("#push_files");
  await field.setInputFiles(file);
  const cookies = await context.cookies();
  await context.clearCookies();
  const save = page.getByRole("button", { name: en.edit.submit });
  await save.click();
  await alert(page).getByText(sending.signedOut).waitFor();
  expect(await page.locator("#push_files_problem").textContent()).toBe(newPush.filesAgain);
  await context.addCookies(cookies);
  await field.setInputFiles(file);
  await Promise.all([page.waitForURL(/preview$/), save.click()]);
  const opened = await (await site.fetch(`/api/v2/pushes/${urlToken}`)).json();
  expect(opened).toMatchObject({ payload: secret, files: [{ filename: "old.txt" }, { filename: "plan.txt" }] });
});

describe("while the server's disk is full", () => {
  const full = openSite({ PWP__DISK__FREE_MIN_BYTES: "1000TiB" });

  it.each([true, false])("the form is refused and filled, with scripts: %s", async (javaScriptEnabled) => {
    const expectedErrors = /^\/p answered 503$/;
    const { page } = await full.visit({ signedIn: true, javaScriptEnabled, expectedErrors });
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill(secret);
    await form.passphrase.fill("a phrase");
    await form.views.fill("7");
    await form.submit.click();
    await alert(page).getByText(failure.unavailableText).waitFor();
    expect(new URL(page.url()).pathname).toBe(javaScriptEnabled ? "/" : "/p");
    expect(await form.payload.inputValue()).toBe(secret);
    expect(await form.passphrase.inputValue()).toBe("a phrase");
    expect(await form.views.inputValue()).toBe("7");
  });
});

it("an edit that another one has overtaken stays beside the push as it is stored by now", async () => {
  const { urlToken } = await site.push({ payload: "x", expire_after_views: 5 }, "owned");
  const { page } = await site.visit({ signedIn: true });
  await page.goto(`/p/${urlToken}/edit`);
  const { note, views } = newPushForm(page);
  await note.fill("a long note");
  await site.fetch(`/api/v2/pushes/${urlToken}`);
  await views.fill("1");
  await page.getByRole("button", { name: en.edit.submit }).click();
  await page.locator("#push_expire_after_views_problem").waitFor();
  expect(await note.inputValue()).toBe("a long note");
  await page
    .locator("#edit_stored")
    .getByText(en.edit.viewsOf({ used: 1, allowed: 5 }))
    .waitFor();
});

it("after a success the Back button shows an empty form", async () => {
  const { page } = await site.visit({ signedIn: true });
  await page.goto("/");
  await newPushForm(page).payload.fill(secret);
  await createLink(page);
  await page.goBack();
  expect(await newPushForm(page).payload.inputValue()).toBe("");
});

const otherForms = [
  ["/users/sign_in", "#email", undefined],
  ["/users/sign_up", "#email", undefined],
  ["/users/edit", "#email", true],
  ["/users/token", "#name", true],
  ["/requests/new", "#title", true],
  ["/admin/look", "#style", "administrator"],
  ["/admin/users", "#new_user", "administrator"],
] as const;

describe("a form that is answered with another page", () => {
  /** Sends the form without the checks of the browser. */
  const send = (field: Locator) =>
    field.evaluate((element) => {
      const { form } = element as HTMLInputElement;
      if (form === null) throw new Error("The field has no form.");
      form.noValidate = true;
      form.requestSubmit();
    });

  it.each(otherForms)(
    "%s is not sent while the server does not take it, and stays",
    async (path, selector, signedIn) => {
      const { page } = await site.visit({
        ...(signedIn !== undefined && { signedIn }),
        expectedErrors: /ERR_FAILED|answered (429|503)|allows|has no/,
      });
      await page.goto(path);
      const field = page.locator(selector);
      if (!(await field.isVisible())) await page.locator("details.confirm > summary").click();
      await field.fill("typed");
      const posts: string[] = [];
      // The page of the theme also asks for previews.
      const isForm = (request: Request) => request.method() === "POST" && request.isNavigationRequest();
      page.on("request", (request) => isForm(request) && posts.push(request.url()));
      const isAsked = (url: URL) => url.pathname === path;
      const failures = [
        [(route: Route) => route.abort(), sending.unsent],
        [
          (route: Route) =>
            route.fulfill({
              status: 429,
              contentType: "text/html",
              body: "<h1>Too many</h1><p data-failure>Wait.</p>",
            }),
          `Wait. ${sending.kept}`,
        ],
        [(route: Route) => route.fulfill({ status: 503, body: "a proxy" }), sending.failed({ status: "503" })],
      ] as const;
      for (const [fail, text] of failures) {
        await page.route(isAsked, fail, { times: 1 });
        await send(field);
        const message = page.locator("main form").getByRole("alert").filter({ hasText: text });
        await message.waitFor();
        expect(await page.locator("[data-unsent]").count()).toBe(1);
        expect(await message.evaluate((element) => element === document.activeElement)).toBe(true);
        expect(await field.inputValue()).toBe("typed");
      }
      await expectAccessibleLayout(page);
      expect(posts).toEqual([]);
      const sent = page.waitForRequest(isForm);
      await send(field);
      await sent;
    },
  );

  it("ends no pushes while the server does not take the form, and then leads to the running deletion", async () => {
    const { page } = await site.visit({ signedIn: "administrator", expectedErrors: /ERR_FAILED/ });
    await site.push({ payload: "to be deleted" });
    await page.goto("/admin/pushes/end?network=127.0.0.1&older_hours=&larger_mib=&owners=anonymous");
    const button = page.getByRole("button", { name: en.admin.bulk.endManyConfirm });
    const isAsked = (url: URL) => url.pathname === "/admin/pushes/end";
    await page.route(isAsked, (route) => route.abort(), { times: 1 });
    await button.click();
    await page.locator("main form").getByRole("alert").getByText(sending.unsent).waitFor();
    await button.click();
    await page.getByRole("table", { name: en.admin.bulk.recent }).waitFor();
  });

  it("names the page that has to be completed first, once the session has ended", async () => {
    const { page, context } = await site.visit({ signedIn: true });
    await page.goto("/users/token");
    const field = page.locator("#name");
    await field.fill("a program");
    await context.clearCookies();
    await send(field);
    await page.getByText(sending.step).waitFor();
    const [tab] = await Promise.all([
      context.waitForEvent("page"),
      page.locator("[data-unsent]").getByRole("link", { name: en.signIn.heading }).click(),
    ]);
    await signInAt(tab);
    expect(await field.inputValue()).toBe("a program");
    await send(field);
    await page.getByText(en.tokens.made).waitFor();
  });

  it("keeps what was typed behind the Back button without scripts", async () => {
    const { page } = await site.visit({
      javaScriptEnabled: false,
      expectedErrors: /answered 503|allows|has no|may be cached/,
    });
    const path = "/users/sign_up";
    await page.goto(path);
    await page.locator("#email").fill("typed@example.com");
    await page.locator("#password").fill(password);
    for (const status of [429, 503]) {
      const isSent = (url: URL) => url.pathname === path;
      await page.route(isSent, (route) => route.fulfill({ status, body: "refused" }), { times: 1 });
      await page.getByRole("button", { name: en.entry.signUp.submit }).click();
      await page.getByText("refused").waitFor();
      await page.goBack();
      expect(await page.locator("#email").inputValue()).toBe("typed@example.com");
      await page.locator("#password").fill(password);
    }
  });
});

describe("a form of a page that browsers do not keep", () => {
  const limited = openSite({ PWP__THROTTLING__MINUTE: "150" });
  const address = { "x-forwarded-for": "198.51.100.7" };

  it.each([
    ["/users/token", "#name", en.tokens.submit, "a program"],
    ["/admin/users", "#new_user", en.admin.createUser, "somebody@example.com"],
  ])(
    "%s is sent again by reloading the page that the request limit answers, without scripts",
    async (path, id, button, typed) => {
      const { page } = await limited.visit({ signedIn: "administrator", javaScriptEnabled: false });
      await page.goto(path);
      const field = page.locator(id);
      if (!(await field.isVisible())) await page.locator("details.confirm > summary").click();
      await field.fill(typed);
      for (let status = 0; status !== 429; ) ({ status } = await limited.fetch("/", { headers: address }));
      const isSent = (url: URL) => url.pathname === path;
      // Refused by the limit itself: this one request comes from an address that has used up its requests.
      await page.route(isSent, (route) => route.continue({ headers: { ...route.request().headers(), ...address } }), {
        times: 1,
      });
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.getByText(failure.reload).waitFor();
      await page.reload();
      await page.getByText(typed).first().waitFor();
      expect(new URL(page.url()).pathname).toMatch(path);
    },
  );

  it("is sent again by a reload after its session has ended and begun again, without scripts", async () => {
    const { page, context } = await site.visit({ signedIn: true, javaScriptEnabled: false });
    await page.goto("/users/token");
    await page.locator("#name").fill("a program");
    const cookies = await context.cookies();
    await context.clearCookies();
    await page.getByRole("button", { name: en.tokens.submit, exact: true }).click();
    await page.getByText(failure.reload).waitFor();
    expect(await page.getByRole("link", { name: sending.signIn }).getAttribute("target")).toBe("_blank");
    await context.addCookies(cookies);
    await page.reload();
    await page.getByText(en.tokens.made).waitFor();
    await page.getByText("a program").first().waitFor();
  });
});

async function signInAt(page: Page): Promise<void> {
  await page.locator("#email").fill(email);
  await page.locator("#password").fill(password);
  await page.getByRole("button", { name: en.signIn.submit }).click();
  await page.waitForURL((url) => url.pathname !== "/users/sign_in");
}
