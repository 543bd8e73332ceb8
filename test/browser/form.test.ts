import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { answerTo, createLink, fillDays, newPushForm, urlTokenOf } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite({ PWP__FILES__MAX_FILE_UPLOADS: "2", PWP__FILES__MAX_PUSH_BYTES: "1000" });
const { newPush, problems } = en;

/** The server must refuse what the browser refuses: requests need not come from a browser. */
const untilServer = "for (const form of document.forms) form.noValidate = true;";

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("a form with errors %s", (_how, options) => {
  it("is shown again with each error at its field and everything that was typed", async () => {
    const { page } = await site.visit({ ...options, signedIn: true });
    await page.goto("/");
    await page.evaluate(untilServer);
    const form = newPushForm(page);
    const typed = '\n\tkeep\n "me" <b>&amp;</b> 🔑 \n';
    await form.payload.fill(typed);
    await fillDays(page, "91");
    await form.views.fill("0");
    await form.passphrase.fill(' a "passphrase" ');
    await form.more.click();
    await form.retrievalStep.uncheck();
    await form.name.fill("n".repeat(2_049));
    await form.note.fill("\nnote\n");
    const answer = await answerTo(page, () => form.submit.click());
    expect(answer.status()).toBe(422);

    const summary = page.getByRole("alert");
    await summary.getByRole("heading", { name: problems.heading }).waitFor();
    const range = { days: problems.range({ min: 1, max: 90 }), views: problems.range({ min: 1, max: 100 }) };
    expect(await summary.getByRole("link").allTextContents()).toEqual([
      `${newPush.name}: ${problems.tooLong({ max: 2_048 })}`,
      `${newPush.days}: ${range.days}`,
      `${newPush.views}: ${range.views}`,
    ]);
    expect(await form.name.isVisible()).toBe(true);
    expect(await form.days.getAttribute("aria-invalid")).toBe("true");
    expect(await page.locator("#push_expire_after_days_problem").textContent()).toBe(range.days);
    expect(await form.payload.getAttribute("aria-invalid")).toBe(null);
    if (options.javaScriptEnabled)
      expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("alert");
    await summary.getByRole("link", { name: newPush.days }).click();
    expect(await page.evaluate("document.activeElement.id")).toBe("push_expire_after_days");

    expect(await form.payload.inputValue()).toBe(typed);
    expect(await form.days.inputValue()).toBe("91");
    expect(await form.views.inputValue()).toBe("0");
    expect(await form.passphrase.inputValue()).toBe(' a "passphrase" ');
    expect(await form.retrievalStep.isChecked()).toBe(false);
    expect(await form.deletable.isChecked()).toBe(true);
    expect(await form.name.inputValue()).toBe("n".repeat(2_049));
    expect(await form.note.inputValue()).toBe("\nnote\n");

    await form.days.fill("3");
    await form.views.fill("4");
    await form.name.fill("right");
    const urlToken = urlTokenOf(await createLink(page));
    expect(await site.ownPush(urlToken)).toMatchObject({ name: "right", note: "\nnote\n", expire_after_days: 3 });
    const query = `?passphrase=${encodeURIComponent(' a "passphrase" ')}`;
    expect(await (await site.fetch(`/api/v2/pushes/${urlToken}${query}`)).json()).toMatchObject({ payload: typed });
  });

  it.each([
    "javascript:alert(1)",
    "data:text/html,x",
    "example.com/no-scheme",
    " https://example.com",
    "ftp://example.com",
  ])("refuses the URL %j and shows it again", async (address) => {
    const { page } = await site.visit(options);
    await page.goto("/?kind=url");
    // As text: a URL field removes blanks, and requests need not come from one.
    await page.evaluate(`document.querySelector("#push_payload").type = "text"; ${untilServer}`);
    await newPushForm(page).payload.fill(address);
    await newPushForm(page).submit.click();
    await page.getByRole("alert").waitFor();
    expect(await page.locator("#push_payload_problem").textContent()).toBe(problems.url({ max: 8192 }));
    const { payload } = newPushForm(page);
    // Sent back, it is in a URL field, whose value has no blanks.
    expect(options.javaScriptEnabled ? await payload.inputValue() : await payload.getAttribute("value")).toBe(address);
    expect(await page.locator("[name='push[kind]']").inputValue()).toBe("url");
  });

  it("refuses too many files, and asks to choose them again", async () => {
    const { page } = await site.visit({
      ...options,
      signedIn: true,
      expectedErrors: /^\/uploads answered 413$/,
    });
    await page.goto("/?kind=file");
    const form = newPushForm(page);
    const file = (name: string, size = 3) => ({ name, mimeType: "text/plain", buffer: Buffer.alloc(size) });
    await page.evaluate(untilServer);
    await form.files.setInputFiles([file("a"), file("b"), file("c")]);
    await form.payload.fill("a message");
    await form.submit.click();
    await page.getByRole("alert").getByText(problems.heading).waitFor();
    expect(await page.locator("#push_files_problem").textContent()).toBe(problems.files({ count: 2 }));
    expect(await form.payload.inputValue()).toBe("a message");

    // With scripts, the page stays with its files, and choosing adds.
    const removeChosen = async () => {
      const remove = page.locator(".chosen-files button");
      while ((await remove.count()) > 0) await remove.first().click();
    };
    await page.evaluate(untilServer);
    await removeChosen();
    await form.files.setInputFiles([file("big", 1_001)]);
    await form.submit.click();
    await page
      .getByText(problems.filesTooLarge({ size: "1,000 bytes" }))
      .first()
      .waitFor();
    expect(await form.payload.inputValue()).toBe("a message");
    await removeChosen();
    await form.files.setInputFiles([file("a"), file("b")]);
    const { files } = await (await site.fetch(`/api/v2/pushes/${urlTokenOf(await createLink(page))}`)).json();
    expect(files).toHaveLength(2);
  });
});

describe("the browser's validation", () => {
  it("does not send an empty form", async () => {
    const { page } = await site.visit();
    await page.goto("/");
    await newPushForm(page).submit.click();
    expect(await page.evaluate("document.activeElement.id")).toBe("push_payload");
    expect(new URL(page.url()).pathname).toBe("/");
  });
});

describe("the character counter", () => {
  it("counts characters like the server, appears near the limit, and reports when there are too many", async () => {
    const { page } = await site.visit();
    await page.goto("/?kind=qr");
    const { payload } = newPushForm(page);
    const counter = page.locator("[data-counter-number]");
    await payload.fill("naïve 🔑\n👩‍👩‍👧");
    expect(await counter.textContent()).toBe("13 / 1,024");
    expect(await counter.isVisible()).toBe(false);
    await payload.fill("a".repeat(921));
    expect(await counter.isVisible()).toBe(false);
    await payload.fill("a".repeat(922));
    expect(await counter.isVisible()).toBe(true);
    await payload.fill("🔑".repeat(1_024));
    expect(await counter.textContent()).toBe("1,024 / 1,024");
    expect(await page.getByText(problems.overLimit).count()).toBe(0);
    await payload.fill("🔑".repeat(1_025));
    await page.getByText(problems.overLimit).waitFor();
    expect(await payload.inputValue()).toBe("🔑".repeat(1_025));
  });
});

describe("the passphrase of a new push", () => {
  it("can be shown, hidden and suggested, and is hidden again before it is sent", async () => {
    const { page } = await site.visit();
    await page.goto("/");
    const { passphrase, payload } = newPushForm(page);
    await payload.fill("secret");
    await passphrase.fill("phrase");
    expect(await passphrase.getAttribute("type")).toBe("password");
    await page.getByRole("button", { name: en.actions.show, exact: true }).click();
    expect(await passphrase.getAttribute("type")).toBe("text");
    await page.getByRole("button", { name: en.actions.hide, exact: true }).click();
    expect(await passphrase.getAttribute("type")).toBe("password");

    await page.getByRole("button", { name: newPush.suggestPassphrase }).click();
    const suggested = await passphrase.inputValue();
    expect(suggested).toMatch(/^[a-z]+(-[a-z]+){4}$/);
    expect(await passphrase.getAttribute("type")).toBe("text");
    const urlToken = urlTokenOf(await createLink(page));
    expect((await site.fetch(`/api/v2/pushes/${urlToken}?passphrase=${suggested}`)).status).toBe(200);
  });
});

it("shows with forced colors where messages, hidden secrets and questions end", async () => {
  const { page } = await site.visit({ forcedColors: "active" });
  const hasEdge = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((box) => getComputedStyle(box).outlineStyle);
  await page.goto("/?kind=file");
  expect(await hasEdge(".notice")).toBe("solid");
  const { urlToken, path } = await site.push({ payload: "secret", deletable_by_viewer: true });
  await page.goto(`/p/${urlToken}/preview`);
  await page.locator(".confirm > summary").click();
  expect(await hasEdge(".confirm > form")).toBe("solid");
  await page.goto(path);
  await page.getByRole("button", { name: en.step.open }).click();
  expect(await hasEdge(".veil")).toBe("solid");
  await page.locator(".veil > summary").click();
  expect(await hasEdge(".secret-box")).toBe("solid");
});

it("shows with forced colors which kind is selected, and number fields as wide as their number", async () => {
  const { page } = await site.visit({ signedIn: true, forcedColors: "active" });
  await page.goto("/?kind=url");
  const kinds = await page
    .locator("#push_kinds button")
    .evaluateAll((found) =>
      found.map((kind) => [kind.ariaCurrent === "true", getComputedStyle(kind).outlineStyle === "solid"]),
    );
  expect(kinds.filter(([isCurrent]) => isCurrent)).toHaveLength(1);
  for (const [isCurrent, isOutlined] of kinds) expect(isOutlined).toBe(isCurrent);
  const widths = await page
    .locator("input[type=number]:visible")
    .evaluateAll((found) => found.map((field) => field.getBoundingClientRect().width));
  expect(widths.length).toBeGreaterThan(0);
  for (const width of widths) expect(width).toBeLessThanOrEqual(130);
});
