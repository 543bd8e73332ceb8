import { fingerprintOf, readFragment } from "@sealpush/age/key-check";
import { makeLinkKey } from "@sealpush/age/link-key";
import { openFile } from "@sealpush/age/open";
import type { Locator, Page, Request } from "playwright-core";
import { describe, expect, test } from "vitest";
import { en, findMessages } from "../../src/i18n/i18n.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { openAnswer } from "../support/sealed-content.ts";
import { openSite } from "../support/site.ts";

const site = openSite({ PWP__REQUESTS__ALLOW_ANONYMOUS: "true" });
const { requests: text } = en;
const secret = "hunter2 🔑";
const passphrase = "correct horse";

interface Asked {
  /** For those who answer. */
  readonly link: string;
  /** The page of the answers, with its fragment. */
  readonly answersUrl: string;
  readonly requests: readonly Request[];
}

/** Makes a request with the form. */
async function ask(page: Page, choose: (page: Page) => Promise<void> = async () => undefined): Promise<Asked> {
  const requests: Request[] = [];
  page.on("request", (request) => requests.push(request));
  await page.goto("/requests/new");
  await page.getByLabel(text.title, { exact: true }).fill("Root password");
  await page.getByLabel(text.note, { exact: true }).fill("For the new server");
  await choose(page);
  await page.getByRole("button", { name: text.submit }).click();
  await page.waitForURL(/\/answers/);
  return { link: await page.locator("#link").inputValue(), answersUrl: page.url(), requests };
}

async function answer(page: Page, link: string, payload: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel(text.text, { exact: true }).fill(payload);
  await page.getByRole("button", { name: text.send }).click();
  await page.getByRole("heading", { name: text.sentHeading }).waitFor();
}

/** Opens the private link again, and waits for an answer that can be opened. */
async function showAnswers(page: Page, answersUrl: string): Promise<void> {
  await page.goto(answersUrl);
  await page.reload();
  await page.getByRole("link", { name: text.openAnswer }).waitFor();
}

/** The answers in the order in which they came: the push, and its content opened with what its link has behind `#`. */
async function answersOn(page: Page) {
  const links = page.locator("a[data-answer-link]:visible");
  await links.first().waitFor();
  const hrefs = await links.evaluateAll((found) => found.map((link) => Reflect.get(link, "href") as string));
  return await Promise.all(
    hrefs.map(async (href) => {
      const { pathname, hash } = new URL(href);
      const pushToken = pathname.split("/")[2] ?? "";
      const push = await (await site.fetch(`/api/v2/pushes/${pushToken}`)).json();
      const { identity = "", request } = readFragment(hash) ?? {};
      return { push, content: await openAnswer(push.payload, identity, request ?? "") };
    }),
  );
}

async function isAbove(upper: Locator, lower: Locator): Promise<boolean> {
  const [upperBox, lowerBox] = [await upper.boundingBox(), await lower.boundingBox()];
  return upperBox !== null && lowerBox !== null && upperBox.y + upperBox.height <= lowerBox.y;
}

const sentBy = (requests: readonly Request[]) =>
  requests
    .map((request) => `${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ""}`)
    .join("\n");

describe("a request whose key is in the private link", () => {
  test("is answered in another browser, which seals the answer, and opens with the private link alone", async () => {
    const owner = await site.visit({ signedIn: true });
    const { link, answersUrl, requests } = await ask(owner.page);
    const identity = new URL(answersUrl).hash.slice(1);
    expect(identity).toMatch(/^AGE-SECRET-KEY-1/);
    expect(sentBy(requests)).not.toContain("AGE-SECRET-KEY");
    expect(await owner.page.locator("#private_link").inputValue()).toBe(answersUrl);
    const { recipient } = await (await site.fetch(`/api/sealpush${new URL(link).pathname}`)).json();
    expect(new URL(link).hash).toBe(`#${await fingerprintOf(recipient)}`);

    const other = await site.visit();
    const sent: Request[] = [];
    other.page.on("request", (request) => sent.push(request));
    await answer(other.page, link, secret);
    const posted =
      sent
        .find((request) => request.method() === "POST")
        ?.postDataBuffer()
        ?.toString() ?? "";
    expect(posted).toContain("BEGIN AGE ENCRYPTED FILE");
    expect(posted).not.toContain("hunter2");

    await owner.page.goto(answersUrl);
    await owner.page.reload();
    await owner.page.getByRole("link", { name: text.openAnswer }).click();
    expect(new URL(owner.page.url()).hash).toBe(`#${identity}.${new URL(link).pathname.split("/").at(-1)}`);
    await owner.page.getByRole("button", { name: en.step.open }).click();
    await expect.poll(() => owner.page.locator("#payload").textContent()).toBe(secret);
    // It was opened once, also by its owner.
    await owner.page.goto(answersUrl);
    await owner.page.reload();
    await owner.page.getByText(en.dashboard.endedByViews).waitFor();
    expect(await owner.page.getByRole("link", { name: text.openAnswer }).count()).toBe(0);
    expect(site.logLines.join("")).not.toContain("AGE-SECRET-KEY");
  });

  test("says without the key, and with another one, that it cannot be opened", async () => {
    const { page } = await site.visit({ signedIn: true });
    const { link, answersUrl } = await ask(page);
    const other = await ask(page);
    const stranger = await site.visit();
    await answer(stranger.page, link, secret);
    const { origin, pathname } = new URL(answersUrl);
    const { page: elsewhere } = await site.visit({ signedIn: true });
    for (const hash of ["", new URL(other.answersUrl).hash, "#AGE-SECRET-KEY-1X"]) {
      await elsewhere.goto("about:blank");
      await elsewhere.goto(`${origin}${pathname}${hash}`);
      await elsewhere.getByText(text.keyMissing).waitFor();
      expect(await elsewhere.getByRole("link", { name: text.openAnswer }).count()).toBe(0);
    }
  });

  test("takes text and files, sealed with their names, on pages that fit and are accessible", async () => {
    const { page } = await site.visit({ signedIn: true });
    const { link, answersUrl } = await ask(page, (form) => form.getByLabel(text.wantsFiles, { exact: true }).check());
    const stranger = await site.visit({ reducedMotion: "reduce" });
    await stranger.page.goto(link);
    await expectAccessibleLayout(stranger.page);
    await stranger.page.getByLabel(text.text, { exact: true }).fill("see the file");
    await stranger.page.getByLabel(text.files, { exact: true }).setInputFiles([
      { name: "plan.txt", mimeType: "text/plain", buffer: Buffer.alloc(200_000, "the plan") },
      { name: "b.bin", mimeType: "application/octet-stream", buffer: Buffer.from([1, 2, 3]) },
    ]);
    await stranger.page.getByRole("button", { name: text.send }).click();
    await stranger.page.getByRole("heading", { name: text.sentHeading }).waitFor();
    await expectAccessibleLayout(stranger.page);
    await page.goto(answersUrl);
    await page.reload();
    const [found] = await answersOn(page);
    const { files } = found?.push ?? {};
    expect(found?.content).toMatchObject({
      text: "see the file",
      files: [
        { name: "plan.txt", type: "text/plain", size: 200_000 },
        { name: "b.bin", size: 3 },
      ],
    });
    const { body } = await fetch(files[1].url);
    if (body === null) throw new Error("The file is empty.");
    const opened = await new Response(await openFile(body, found?.content.files?.[1]?.identity ?? "")).arrayBuffer();
    expect([...new Uint8Array(opened)]).toEqual([1, 2, 3]);
  });
});

test("with a passphrase, the answers open wherever the owner signs in, and the server gets neither", async () => {
  const { page } = await site.visit({ signedIn: true });
  const { link, answersUrl, requests } = await ask(page, (form) =>
    form.getByLabel(text.passphrase, { exact: true }).fill(passphrase),
  );
  expect(new URL(answersUrl).hash).toBe(new URL(link).hash);
  expect(sentBy(requests)).not.toContain("AGE-SECRET-KEY");
  expect(sentBy(requests)).not.toMatch(/correct.{1,3}horse/);
  await answer((await site.visit()).page, link, secret);

  const device = await site.visit({ signedIn: true });
  await device.page.goto(answersUrl);
  const field = device.page.getByLabel(text.passphrase, { exact: true });
  await field.fill("wrong horse");
  await device.page.getByRole("button", { name: text.unlock }).click();
  await device.page.getByText(text.wrongPassphrase).waitFor();
  expect(await isAbove(device.page.getByText(text.wrongPassphrase), field)).toBe(true);
  await field.fill(passphrase);
  await device.page.getByRole("button", { name: text.unlock }).click();
  const [found] = await answersOn(device.page);
  expect(found?.content.text).toBe(secret);
});

test.each([
  ["a full stop", (link: string) => `${link}.`],
  ["an encoded # and a bracket", (link: string) => `${link.replace("#", "%23")})`],
])("a link that a chat has given %s is answered, and still names the key", async (_what, change) => {
  const { page } = await site.visit({ signedIn: true });
  const { link, answersUrl } = await ask(page);
  const recipient = await site.visit();
  await recipient.page.goto(change(link));
  await recipient.page.getByText(text.sealsHere).waitFor();
  await answer(recipient.page, change(link), secret);
  await showAnswers(page, `${answersUrl}.`);
  const [found] = await answersOn(page);
  expect(found?.content.text).toBe(secret);
});

test("a passphrase that can be guessed is refused where it is chosen, before anything is sent", async () => {
  const { page } = await site.visit({ signedIn: true, reducedMotion: "reduce" });
  const sent: Request[] = [];
  page.on("request", (request) => sent.push(request));
  await page.goto("/requests/new");
  expect(await page.evaluate("document.activeElement.id")).toBe("title");
  await page.keyboard.type("Root password");
  await page.getByText(text.passphraseHint).waitFor();
  const field = page.getByLabel(text.passphrase, { exact: true });
  for (const weak of ["elevenchars", "password1234"]) {
    await field.fill(weak);
    await page.getByRole("button", { name: text.submit }).click();
    await page.getByText(text.passphraseWeak).waitFor();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
  }
  await expectAccessibleLayout(page);
  expect(sent.filter((request) => request.method() === "POST")).toEqual([]);
  await field.fill(passphrase);
  await page.getByRole("button", { name: text.submit }).click();
  await page.waitForURL(/\/answers/);
});

describe("the key that the link names", () => {
  /** Another key than the one of the request, put into the page on the way. */
  async function sendOtherKey(page: Page): Promise<void> {
    const { recipient } = await makeLinkKey();
    await page.route(/\/requests\/[a-z0-9]{32}$/, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/data-recipient="[^"]*"/, `data-recipient="${recipient}"`);
      await route.fulfill({ response, body });
    });
  }

  const sealsChecked = (page: Page) => page.getByText(text.sealsHere);
  const sendButton = (page: Page) => page.getByRole("button", { name: text.send });

  test("is compared with the one that the server sends: nothing can be sent for another one", async () => {
    const { link } = await ask((await site.visit({ signedIn: true })).page);
    const { page } = await site.visit({ reducedMotion: "reduce" });
    await page.goto(link);
    await sealsChecked(page).waitFor();
    expect(await page.getByText(text.keyUnchecked).isVisible()).toBe(false);

    await sendOtherKey(page);
    const sent: Request[] = [];
    page.on("request", (request) => sent.push(request));
    await page.goto("about:blank");
    await page.goto(link);
    await page.getByText(text.keyWrong).waitFor();
    expect(await sendButton(page).isVisible()).toBe(false);
    await expectAccessibleLayout(page);
    // Not even a form that is sent by other means.
    await page.evaluate("document.querySelector('#payload').value = 'x'");
    await page.evaluate("document.querySelector('form#answer').requestSubmit()");
    await page.reload();
    await page.getByText(text.keyWrong).waitFor();
    expect(sent.filter((request) => request.method() === "POST")).toEqual([]);
  });

  test("is missed in a link that was cut, until the whole link is pasted over it", async () => {
    const { link } = await ask((await site.visit({ signedIn: true })).page);
    const { page } = await site.visit({ reducedMotion: "reduce" });
    await page.goto(link.slice(0, -1));
    await page.getByText(text.keyWrong).waitFor();
    expect(await sendButton(page).isVisible()).toBe(false);
    await page.goto(link);
    await sealsChecked(page).waitFor();
    await page.goto("about:blank");
    await page.goto(link.replace(/#.*/, ""));
    await page.getByText(text.keyUnchecked).waitFor();
    expect(await sealsChecked(page).isVisible()).toBe(false);
    await expectAccessibleLayout(page);
    await sendButton(page).waitFor();
  });

  test("stays in the address in another language, after following a link to a field, and for another answer", async () => {
    const { page: owner } = await site.visit({ signedIn: true });
    const { link } = await ask(owner, (form) => form.getByLabel(text.answersMax, { exact: true }).fill("2"));
    const { hash } = new URL(link);
    // The language that is chosen is kept in one.
    const { page } = await site.visit({ setsCookies: true });
    await page.goto(link);
    await page.evaluate("location.hash = '#payload'");
    await expect.poll(() => new URL(page.url()).hash).toBe(hash);
    await sealsChecked(page).waitFor();
    await page.getByRole("link", { name: "Deutsch" }).click();
    await page.getByText(findMessages("de")?.requests.sealsHere ?? "").waitFor();
    await page.getByRole("link", { name: "English" }).click();
    await sealsChecked(page).waitFor();
    expect(new URL(page.url()).hash).toBe(hash);
    await answer(page, link, secret);
    await page.getByRole("link", { name: text.again }).click();
    await sealsChecked(page).waitFor();
    expect(new URL(page.url()).hash).toBe(hash);
  });

  test("is the one of the private link on the page of the answers, whatever the server says", async () => {
    const { page } = await site.visit({ signedIn: true });
    await page.route(/\/answers$/, async (route) => {
      const response = await route.fetch({ maxRedirects: 0 });
      const body = (await response.text()).replaceAll(/#[0-9a-f]{32}/g, `#${"0".repeat(32)}`);
      await route.fulfill({ response, body });
    });
    const right = async (shown: string) => {
      const { recipient } = await (await site.fetch(`/api/sealpush${new URL(shown).pathname}`)).json();
      return `#${await fingerprintOf(recipient)}`;
    };
    const shownLink = () => page.locator("#link").inputValue();
    for (const choose of [
      undefined,
      (form: Page) => form.getByLabel(text.passphrase, { exact: true }).fill(passphrase),
    ]) {
      await ask(page, choose);
      await expect.poll(async () => new URL(await shownLink()).hash).toBe(await right(await shownLink()));
    }
  });
});

describe("without JavaScript", () => {
  test("a request cannot be made, and the page says why", async () => {
    const { page } = await site.visit({ signedIn: true, javaScriptEnabled: false });
    await page.goto("/requests/new");
    await page.getByText(text.needsScript).waitFor();
    expect(await page.locator("main form").isVisible()).toBe(false);
  });

  test("an answer is sealed by the server, and the page says so before", async () => {
    const { page } = await site.visit({ signedIn: true });
    const { link, answersUrl } = await ask(page);
    const stranger = await site.visit({ javaScriptEnabled: false });
    await stranger.page.goto(link);
    await stranger.page.getByText(text.serverSeals).waitFor();
    await answer(stranger.page, link, `${secret}\nsecond line`);
    await page.goto(answersUrl);
    await page.reload();
    const [found] = await answersOn(page);
    expect(found?.content.text).toBe(`${secret}\nsecond line`);
  });
});

test("an empty answer is refused before it is sent, and a closed request takes none", async () => {
  const { page } = await site.visit({ signedIn: true });
  const { link, answersUrl } = await ask(page, (form) => form.getByLabel(text.wantsFiles, { exact: true }).check());
  const stranger = await site.visit({ expectedErrors: /410/ });
  await stranger.page.goto(link);
  await stranger.page.getByRole("button", { name: text.send }).click();
  await stranger.page.getByText(text.nothing).waitFor();
  const field = stranger.page.getByLabel(text.text, { exact: true });
  expect(await field.evaluate((found) => found === document.activeElement)).toBe(true);
  const problem = stranger.page.getByRole("alert").filter({ hasText: text.nothing });
  expect(await isAbove(problem, field)).toBe(true);
  await page.goto(answersUrl);
  await page.locator("summary").filter({ hasText: text.close }).click();
  await page.getByRole("button", { name: text.close }).click();
  await page.waitForURL(/\/requests$/);
  await page.getByText(text.states.closed).first().waitFor();
  await stranger.page.reload();
  await stranger.page.getByRole("heading", { name: text.endedHeading }).waitFor();
});

describe("an answer that could not be sent", () => {
  const chosen = { name: "plan.txt", mimeType: "text/plain", buffer: Buffer.alloc(200_000, "the plan") };

  /** The page that answers a new request for a text and files, filled. */
  async function fillAnswer(stranger: Page): Promise<Asked> {
    const { page } = await site.visit({ signedIn: true });
    const asked = await ask(page, (form) => form.getByLabel(text.wantsFiles, { exact: true }).check());
    await stranger.goto(asked.link);
    await stranger.getByLabel(text.text, { exact: true }).fill(secret);
    await stranger.getByLabel(text.files, { exact: true }).setInputFiles([chosen]);
    return asked;
  }

  async function expectStillFilled(stranger: Page): Promise<void> {
    expect(await stranger.getByLabel(text.text, { exact: true }).inputValue()).toBe(secret);
    const files = stranger.getByLabel(text.files, { exact: true });
    expect(await files.evaluate((field) => Reflect.get(field, "files")[0].size)).toBe(chosen.buffer.length);
  }

  async function expectSent(stranger: Page): Promise<void> {
    await stranger.getByRole("button", { name: text.send }).click();
    await stranger.getByRole("heading", { name: text.sentHeading }).waitFor();
  }

  test("because the sender cancelled, or the connection broke, stays in the form and is sent later", async () => {
    const { page: stranger } = await site.visit({ reducedMotion: "reduce", expectedErrors: /ERR_FAILED/ });
    const { link } = await fillAnswer(stranger);
    const { pathname } = new URL(link);
    const reached = Promise.withResolvers<void>();
    await stranger.route(pathname, async (route) => {
      if (route.request().method() === "POST") reached.resolve();
      else await route.continue();
    });
    await stranger.getByRole("button", { name: text.send }).click();
    await reached.promise;
    await stranger.getByRole("progressbar", { name: en.files.sending }).waitFor();
    await expectAccessibleLayout(stranger);
    await stranger.getByRole("button", { name: en.files.cancel }).click();
    await stranger.locator("[data-sending]").waitFor({ state: "hidden" });
    await expectStillFilled(stranger);

    await stranger.unroute(pathname);
    await stranger.route(pathname, (route) => route.abort());
    await stranger.getByRole("button", { name: text.send }).click();
    await stranger.getByText(text.unanswered).waitFor();
    await expectStillFilled(stranger);
    await stranger.unroute(pathname);
    await expectSent(stranger);
  });

  test("because the request was closed meanwhile says so, and keeps what was typed", async () => {
    const { page: stranger } = await site.visit();
    const { link } = await fillAnswer(stranger);
    const { page } = await site.visit({ signedIn: true });
    await page.goto(`${new URL(link).pathname}/answers`);
    await page.locator("summary").filter({ hasText: text.close }).click();
    await page.getByRole("button", { name: text.close }).click();
    await page.waitForURL(/\/requests$/);
    await stranger.getByRole("button", { name: text.send }).click();
    await stranger.getByRole("heading", { name: text.endedHeading }).waitFor();
    await stranger.getByText(`${text.endedText} ${en.sending.kept}`).waitFor();
    await expectStillFilled(stranger);
  });

  test("because it has too many files says so before anything is sealed", async () => {
    const { page: stranger } = await site.visit();
    await fillAnswer(stranger);
    const many = Array.from({ length: 11 }, (_, at) => ({ ...chosen, name: `${at}.txt` }));
    await stranger.getByLabel(text.files, { exact: true }).setInputFiles(many);
    await stranger.getByRole("button", { name: text.send }).click();
    const problem = stranger.getByRole("alert").filter({ hasText: "Choose at least one file and at most 10." });
    await problem.waitFor();
    expect(await isAbove(problem, stranger.getByLabel(text.files, { exact: true }))).toBe(true);
    await stranger.getByLabel(text.files, { exact: true }).setInputFiles([chosen]);
    await expectSent(stranger);
  });
});

describe("a request without an account", () => {
  /** @returns the page of the answers, with its fragment. */
  async function askWithout(page: Page, answersMax = "1") {
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));
    await page.goto("/");
    await page.getByRole("link", { name: text.make }).click();
    await page.getByText(text.keepLink).waitFor();
    expect(await page.getByLabel(text.passphrase, { exact: true }).count()).toBe(0);
    // Without an account there are no files here, so that there is nothing to choose.
    expect(await page.getByRole("group", { name: text.wants }).count()).toBe(0);
    await page.getByLabel(text.title, { exact: true }).fill("Root password");
    await page.getByLabel(text.answersMax, { exact: true }).fill(answersMax);
    await page.getByRole("button", { name: text.submit }).click();
    await page.locator("#private_link").waitFor();
    expect(sentBy(requests)).not.toContain("AGE-SECRET-KEY");
    expect(await page.locator("#private_link").inputValue()).toBe(page.url());
    for (const name of [text.copyLink, text.copyPrivateLink])
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(1);
    return { link: await page.locator("#link").inputValue(), answersUrl: page.url() };
  }

  test("is answered, opened, closed and deleted by strangers to the server, with the private link alone", async () => {
    const { page: requester } = await site.visit({ reducedMotion: "reduce", setsCookies: true });
    await requester.goto("/requests/new");
    await expectAccessibleLayout(requester);
    const { link, answersUrl } = await askWithout(requester, "2");
    await answer((await site.visit()).page, link, secret);

    const { page } = await site.visit({ setsCookies: true });
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));
    await page.goto(answersUrl);
    const opening = page.getByRole("link", { name: text.openAnswer });
    await opening.waitFor();
    expect(page.url()).toBe(answersUrl);
    await page.reload();
    await opening.click();
    await page.getByRole("button", { name: en.step.open }).click();
    await expect.poll(() => page.locator("#payload").textContent()).toBe(secret);
    await page.goto(answersUrl);
    await page.getByText(en.dashboard.endedByViews).waitFor();
    expect(await opening.count()).toBe(0);
    expect(await page.getByRole("link", { name: en.dashboard.audit }).count()).toBe(0);

    await page.locator("summary").filter({ hasText: text.close }).click();
    await page.getByRole("button", { name: text.close }).click();
    await page.getByText(text.states.closed, { exact: true }).waitFor();
    expect(await page.locator("#private_link").inputValue()).toBe(answersUrl);
    await page.locator("summary").filter({ hasText: text.delete }).click();
    await page.getByText(text.deleteOnlyText).waitFor();
    await page.getByRole("button", { name: text.delete }).click();
    await page.getByRole("heading", { name: text.deleted }).waitFor();
    await page.goto(answersUrl);
    await page.getByText(text.proofIncomplete).waitFor();
    expect(sentBy(requests)).not.toContain("AGE-SECRET-KEY");
    expect(site.logLines.join("")).not.toContain("AGE-SECRET-KEY");
  });

  test("shows nothing without its key, until the private link is complete", async () => {
    const { link, answersUrl } = await askWithout((await site.visit({ setsCookies: true })).page);
    const other = await askWithout((await site.visit({ setsCookies: true })).page);
    const { page, context } = await site.visit({ reducedMotion: "reduce", setsCookies: true });
    const [start] = answersUrl.split("#");
    for (const hash of ["", "#AGE-SECRET-KEY-1X", new URL(other.answersUrl).hash]) {
      await page.goto("about:blank");
      await page.goto(`${start}${hash}`);
      await page.getByText(text.proofIncomplete).waitFor();
      expect(await page.getByText("Root password").count()).toBe(0);
      expect(await context.cookies()).toEqual([]);
      if (hash === "") await expectAccessibleLayout(page);
    }
    await page.goto(answersUrl);
    await page.locator("#private_link").waitFor();
    await answer((await site.visit()).page, link, secret);
    await showAnswers(page, answersUrl);
    await expectAccessibleLayout(page);
  });

  test("says without JavaScript, and without cookies, what its private link needs", async () => {
    const { answersUrl } = await askWithout((await site.visit({ setsCookies: true })).page);
    const plain = await site.visit({ javaScriptEnabled: false });
    await plain.page.goto(answersUrl);
    await plain.page.getByText(text.proofNeedsScript).waitFor();
    const { page } = await site.visit({ expectedErrors: / (?:allows referrers|has no policy|may be cached)$/ });
    // As in a browser that refuses the cookie of the server's answer.
    await page.route(/\/answers$/, (route) =>
      route.request().method() === "POST"
        ? route.fulfill({ status: 303, headers: { location: new URL(answersUrl).pathname } })
        : route.continue(),
    );
    await page.goto(answersUrl);
    await page.getByText(text.proofNeedsCookies).waitFor();
  });
});

test("a link without a request says that there is none", async () => {
  const { page } = await site.visit();
  const answer = await page.goto(`/requests/${"a".repeat(32)}`);
  expect(answer?.status()).toBe(404);
  await page.getByRole("heading", { name: text.unknownHeading }).waitFor();
  await expectAccessibleLayout(page);
});

test("a request is deleted with its answers, and the page says so before", async () => {
  const { page } = await site.visit({ signedIn: true });
  const { link, answersUrl } = await ask(page);
  await answer((await site.visit()).page, link, secret);
  await page.goto(answersUrl);
  await page.reload();
  const opening = await page.getByRole("link", { name: text.openAnswer }).getAttribute("href");
  await page.locator("summary").filter({ hasText: text.delete }).click();
  await page.getByText(text.deleteText).waitFor();
  await page.getByRole("button", { name: text.delete }).click();
  await page.waitForURL(/\/requests$/);
  const { pathname } = new URL(answersUrl);
  expect(await page.locator(`a[href="${pathname}"]`).count()).toBe(0);
  const push = await (await site.fetch(`/api/v2/pushes/${new URL(opening ?? "").pathname.split("/")[2]}`)).json();
  expect(push).toMatchObject({ deleted: true, payload: null });
});

describe("the pages fit and are accessible:", () => {
  test("the list, and the page of the answers, with the key and with a passphrase", async () => {
    const { page } = await site.visit({ signedIn: true, reducedMotion: "reduce" });
    const { link, answersUrl } = await ask(page);
    await page.goto("/requests");
    await expectAccessibleLayout(page);
    await answer((await site.visit()).page, link, secret);
    await showAnswers(page, answersUrl);
    await expectAccessibleLayout(page);
    const locked = await ask(page, (form) => form.getByLabel(text.passphrase, { exact: true }).fill(passphrase));
    await answer((await site.visit()).page, locked.link, secret);
    await page.reload();
    await page.getByText(text.opensByPassphrase).waitFor();
    await expectAccessibleLayout(page);
    const { page: elsewhere } = await site.visit({ signedIn: true, reducedMotion: "reduce" });
    await elsewhere.goto(locked.answersUrl);
    await elsewhere.getByRole("button", { name: text.unlock }).waitFor();
    await expectAccessibleLayout(elsewhere);
  });
});
