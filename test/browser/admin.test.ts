import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en, languages } from "../../src/i18n/i18n.ts";
import { accountMenu } from "../support/account-menu.ts";
import { openUser } from "../support/admin-page-states.ts";
import { answerTo, sendForm } from "../support/browser-forms.ts";
import { appFor } from "../support/factors.ts";
import { expectAccessibleLayout, overflowing } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";
import { administratorEmail, email, password } from "../support/visit.ts";

const site = openSite();
const { admin } = en;
const { bulk } = admin;

/** A row of a list, or the facts on the page that has the name as its heading. */
const rowOf = (page: Page, name: string) =>
  page
    .locator("main")
    .filter({ has: page.getByRole("heading", { level: 1, name, exact: true }) })
    .locator(".admin-subject")
    .or(page.locator("tbody tr").filter({ has: page.getByRole("rowheader", { name, exact: true }) }));

/** Opens the confirmation, reads it, and confirms. */
async function act(page: Page, name: string, label: string, explanation: string): Promise<void> {
  const row = rowOf(page, name);
  await row.getByText(label, { exact: true }).click();
  await row.getByText(explanation).waitFor();
  await answerTo(page, () => row.getByRole("button", { name: label }).click());
}

const goTo = (page: Page, section: string) =>
  page.getByRole("navigation", { name: admin.sections }).getByRole("link", { name: section, exact: true }).click();

describe.each([
  ["with scripts", { signedIn: "administrator", javaScriptEnabled: true } as const],
  ["without scripts", { signedIn: "administrator", javaScriptEnabled: false } as const],
])("an administrator %s", (how, options) => {
  it("disables and enables a user, and both are in the administrators' log", async () => {
    // The tokens of a disabled user end for good: that of the site's user is needed later.
    const erin = `erin.${options.javaScriptEnabled ? "scripted" : "plain"}@example.com`;
    const send = (path: string, fields: Readonly<Record<string, string>>) =>
      site.fetch(path, {
        method: "POST",
        headers: { "sec-fetch-site": "same-origin" },
        body: new URLSearchParams({ email: erin, password, ...fields }),
      });
    expect((await send("/users/sign_up", { password_confirmation: password })).status).toBe(303);
    const { page } = await site.visit(options);
    await page.goto("/");
    await accountMenu(page).click();
    await page.getByRole("link", { name: en.nav.administration, exact: true }).click();
    await page.getByRole("heading", { name: admin.overview }).waitFor();
    await goTo(page, admin.users);
    await page.getByLabel(admin.searchUsers, { exact: true }).fill(erin.toUpperCase());
    await page.getByRole("button", { name: admin.search }).click();
    await page.waitForURL(/q=ERIN/);
    expect(await page.locator("tbody tr").count()).toBe(1);
    await page.getByRole("link", { name: erin, exact: true }).click();

    await act(page, erin, admin.disable, admin.disableText);
    await rowOf(page, erin).getByText(admin.disabled, { exact: true }).waitFor();
    const signIn = () => send("/users/sign_in", {});
    expect((await signIn()).status).toBe(401);
    await act(page, erin, admin.enable, admin.enableText);
    expect((await signIn()).status).toBe(303);

    await goTo(page, admin.trail);
    expect((await page.getByRole("rowheader").allTextContents()).slice(0, 2)).toEqual(
      [admin.trailActions.enabled, admin.trailActions.disabled].map((sentence) => sentence({ subject: erin })),
    );
  });

  it("cannot remove the last administrator", async () => {
    const { page } = await site.visit(options);
    await openUser(page, administratorEmail);
    await act(page, administratorEmail, admin.demote, admin.demoteText);
    await page
      .getByRole("alert")
      .getByText(admin.lastAdmin({ email: administratorEmail }))
      .waitFor();
    await rowOf(page, administratorEmail).getByText(admin.administrator, { exact: true }).waitFor();
  });

  it("deletes a push without showing its content", async () => {
    const { page } = await site.visit(options);
    const { path } = await site.push({ payload: `hidden ${how}`, name: `label ${how}` }, "owned");
    await page.goto("/admin/pushes?state=active");
    const html = await page.content();
    for (const shown of [`hidden ${how}`, `label ${how}`, path]) expect(html).not.toContain(shown);
    const name = (await page.getByRole("rowheader").first().textContent()) ?? "";
    await act(page, name, admin.endPush, admin.endPushText);
    expect(await rowOf(page, name).count()).toBe(0);
    await page.goto(path);
    await page.getByRole("heading", { name: en.gone.heading }).waitFor();
  });

  it("deletes many pushes that match, after a preview", async () => {
    const { page } = await site.visit(options);
    const { path } = await site.push({ payload: `part of a flood ${how}` }, "owned");
    await page.goto("/admin/pushes");
    await page.getByRole("link", { name: admin.bulk.endMany }).click();
    await page.getByLabel(admin.bulk.network, { exact: true }).fill("127.0.0.0/8");
    await page.getByLabel(admin.bulk.whose, { exact: true }).selectOption("owned");
    await page.getByRole("button", { name: admin.bulk.preview }).click();
    await page.waitForURL(/owners=owned/);
    await page.getByRole("button", { name: admin.bulk.endManyConfirm }).click();
    await page.getByRole("heading", { name: admin.bulk.recent }).waitFor();
    await expect
      .poll(async () => {
        await page.goto("/admin/pushes/end");
        return await page.getByText(admin.bulk.running, { exact: true }).count();
      })
      .toBe(0);
    await page.goto(path);
    await page.getByRole("heading", { name: en.gone.heading }).waitFor();
  });

  it("resets a style sheet that hides everything", async () => {
    const { page } = await site.visit(options);
    await page.goto("/admin/look");
    await page.getByLabel(admin.style, { exact: true }).fill("main { display: none }");
    await page.locator(".button-primary[form=style_form]").click();
    await page.getByRole("button", { name: admin.reset }).waitFor();
    await page.goto("/");
    expect(await page.locator("main").isVisible()).toBe(false);
    await page.goto("/admin/look");
    await page.getByRole("button", { name: admin.reset }).click();
    await page.getByRole("button", { name: admin.reset }).waitFor({ state: "detached" });
    await page.goto("/");
    expect(await page.locator("main").isVisible()).toBe(true);
  });

  it("previews a style sheet in a new tab, where no text of it becomes markup, and saves nothing", async () => {
    const { page, context } = await site.visit(options);
    await page.goto("/admin/look");
    const text = "</style><script>alert(1)</script>";
    await page
      .getByLabel(admin.style, { exact: true })
      .fill(`h1 { color: rgb(138, 31, 106) }\n/*! line\r\nline */ h1::before { content: "${text}" }`);
    const opened = context.waitForEvent("page");
    await page.locator("button[form=style_form][name=preview]").click();
    const preview = await opened;
    await preview.getByText(admin.previewText).waitFor();
    const styleOf = (property: string, pseudo = "") =>
      preview.evaluate(`getComputedStyle(document.querySelector("h1"), "${pseudo}").${property}`);
    expect(await styleOf("color")).toBe("rgb(138, 31, 106)");
    expect(await styleOf("content", "::before")).toBe(`"${text}"`);
    if (options.javaScriptEnabled) await expectAccessibleLayout(preview);
    expect(await page.getByLabel(admin.style, { exact: true }).inputValue()).toContain(text);
    await page.goto("/");
    expect(await page.locator("style, link[href^='/branding/']").count()).toBe(0);
  });

  it("shows the current look beside the forms", async () => {
    const { page } = await site.visit(options);
    await page.goto("/admin/look");
    const shown = page.frameLocator(`iframe[title="${admin.preview}"]`);
    const heading = shown.getByRole("heading", { name: en.step.heading, includeHidden: true });
    await heading.waitFor();
    const fontOf = (element: Element) => getComputedStyle(element).fontFamily;
    expect(await heading.evaluate(fontOf)).toBe(await page.locator("h1").evaluate(fontOf));
    expect(await shown.locator("script").count()).toBe(0);
  });

  it("sets the name and the logo of the instance", async () => {
    const { page } = await site.visit(options);
    await page.goto("/admin/look");
    await page.getByLabel(admin.productName, { exact: true }).fill("<i>Vault</i>");
    await page.locator(".button-primary[form=name_form]").click();
    await page.locator(".wordmark-name", { hasText: "<i>Vault</i>" }).waitFor();
    expect(await page.title()).toBe(`${admin.theme} · <i>Vault</i>`);
    const buffer = await page.screenshot({ clip: { x: 0, y: 0, width: 8, height: 8 } });
    await page.locator("#logo").setInputFiles({ name: "logo.png", mimeType: "image/png", buffer });
    await page.locator(".button-primary[form=logo_form]").click();
    const logo = page.locator(".wordmark img.brand-logo");
    await logo.waitFor();
    expect((await logo.boundingBox())?.height).toBe(32);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await logo.evaluate((image) => getComputedStyle(image).backgroundColor)).toBe("rgb(245, 246, 243)");
    await page.emulateMedia({ colorScheme: "light" });
    for (const part of ["logo", "name"]) {
      const reset = page.locator(`form[action="/admin/look/${part}/reset"] button`);
      await reset.click();
      await reset.waitFor({ state: "detached" });
    }
    await page.locator(".wordmark-name", { hasText: "Sealpush" }).waitFor();
  });
});

it("shows the look beside the forms while they are changed, and saves nothing", async () => {
  const { page } = await site.visit({ signedIn: "administrator" });
  await page.goto("/admin/look");
  const preview = page.getByRole("region", { name: admin.preview });
  const shown = page.frameLocator(`iframe[title="${admin.preview}"]`);
  const heading = shown.getByRole("heading", { name: en.step.heading, includeHidden: true });
  const colour = () => heading.evaluate((element) => getComputedStyle(element).color);
  const before = await page.locator("h1").evaluate((element) => getComputedStyle(element).color);
  await expect.poll(colour).toBe(before);
  const style = page.getByLabel(admin.style, { exact: true });
  const text = "</style><script>alert(1)</script>";
  await style.fill(`:root h1 { color: rgb(138, 31, 106) }\nh1::before { content: "${text}" }`);
  await expect.poll(colour).toBe("rgb(138, 31, 106)");
  const contentOf = (element: Element) => getComputedStyle(element, "::before").content;
  expect(await heading.evaluate(contentOf)).toBe(`"${text}"`);
  expect(await page.locator("h1").evaluate((element) => getComputedStyle(element).color)).toBe(before);
  await style.fill("h1 { color: blue");
  await style.fill("@import 'x'");
  await preview.getByText("@import is not allowed here.").waitFor();
  expect(await colour()).toBe("rgb(138, 31, 106)");
  await page.getByLabel(admin.productName, { exact: true }).fill("<i>Vault</i>");
  await shown.locator(".wordmark-name", { hasText: "<i>Vault</i>" }).waitFor();
  await expect.poll(colour).toBe(before);
  const buffer = await page.screenshot({ clip: { x: 0, y: 0, width: 8, height: 8 } });
  await page.locator("#logo").setInputFiles({ name: "logo.png", mimeType: "image/png", buffer });
  await shown.locator(".wordmark img.brand-logo[src^='data:image/png']").waitFor();
  expect(await shown.locator("script, style").count()).toBe(0);
  expect(await preview.getByRole("status").textContent()).toBe("");
  await expectAccessibleLayout(page);
  await page.goto("/");
  expect(await page.locator("link[href^='/branding/'], img.brand-logo").count()).toBe(0);
});

it("drops the preview of a change that another one has followed", async () => {
  const { page } = await site.visit({ signedIn: "administrator" });
  await page.goto("/admin/look");
  const heading = page
    .frameLocator(`iframe[title="${admin.preview}"]`)
    .getByRole("heading", { name: en.step.heading, includeHidden: true });
  await heading.waitFor();
  const style = page.getByLabel(admin.style, { exact: true });
  await page.route("/admin/look/style", () => undefined, { times: 1 });
  const asked = page.waitForRequest("/admin/look/style");
  const dropped = page.waitForEvent("requestfailed");
  await style.fill("h1 { color: rgb(1, 2, 3) }");
  const earlier = await asked;
  await style.fill("h1 { color: rgb(138, 31, 106) }");
  expect(await dropped).toBe(earlier);
  const colour = () => heading.evaluate((element) => getComputedStyle(element).color);
  await expect.poll(colour).toBe("rgb(138, 31, 106)");
});

it("confirms one action on a user at a time, and the other buttons keep their place meanwhile", async () => {
  const { page } = await site.visit({ signedIn: "administrator" });
  await openUser(page, email);
  const row = rowOf(page, email);
  const topOf = async (label: string) => (await row.getByText(label, { exact: true }).boundingBox())?.y;
  const before = await Promise.all([admin.promote, admin.disable, admin.deleteUser].map(topOf));
  for (const label of [admin.promote, admin.disable, admin.deleteUser]) {
    await row.getByText(label, { exact: true }).click();
    expect(await row.locator("details[open] button[type=submit]").count()).toBe(1);
    expect(await Promise.all([admin.promote, admin.disable, admin.deleteUser].map(topOf))).toEqual(before);
  }
});

describe.each([
  ["with scripts", true],
  ["without scripts", false],
])("an administrator with a second factor, %s", (_how, javaScriptEnabled) => {
  const own = openSite();

  it("proves an action on a user on a page of its own, and the deletion of many pushes", async () => {
    const { page } = await own.visit({ signedIn: "administrator", reducedMotion: "reduce", javaScriptEnabled });
    await page.goto("/users/factors/authenticator_app");
    const { code } = appFor(await page.locator("#key").innerText(), () => Date.now());
    await page.locator("#code").fill(code());
    await sendForm(page);

    await openUser(page, email);
    await act(page, email, admin.promote, admin.promoteText);
    await page.getByRole("heading", { name: `${admin.promote}: ${email}` }).waitFor();
    if (javaScriptEnabled) await expectAccessibleLayout(page);
    const confirm = async (proof: string) => {
      await page.getByLabel(en.factors.proof.label, { exact: true }).fill(proof);
      await page
        .getByRole("button", { name: admin.actionOn({ action: admin.promote, name: email }), exact: true })
        .click();
    };
    await confirm("wrong");
    await page.getByText(en.factors.proof.wrong).first().waitFor();
    if (javaScriptEnabled) await expectAccessibleLayout(page);
    await confirm(password);
    await page.waitForURL(/\/admin\/users\/\d+$/);
    await rowOf(page, email).getByText(admin.administrator, { exact: true }).waitFor();

    const { urlToken } = await own.push({ payload: "secret" });
    await endMany(page, "wrong");
    await page.getByText(en.factors.proof.wrong).first().waitFor();
    expect(await page.getByLabel(bulk.network, { exact: true }).inputValue()).toBe("127.1.2.3/8");
    if (javaScriptEnabled) await expectAccessibleLayout(page);
    await endMany(page, password);
    await page.waitForURL("/admin/pushes/end");
    await page.getByRole("heading", { name: bulk.recent }).waitFor();
    const finished = async () => {
      await page.reload();
      return await page.getByText(bulk.finished, { exact: true }).count();
    };
    await expect.poll(finished).toBe(1);
    expect(await (await own.fetch(`/api/v2/pushes/${urlToken}`)).json()).toMatchObject({
      expired: true,
      deleted: true,
    });
    if (javaScriptEnabled) await expectAccessibleLayout(page);
  });
});

/** Reaches the form from the list of pushes, reads the preview, and confirms with the proof. */
async function endMany(page: Page, proof: string): Promise<void> {
  await page.goto("/admin/pushes");
  await page.getByRole("link", { name: bulk.endMany }).click();
  await page.getByLabel(bulk.network, { exact: true }).fill("127.1.2.3/8");
  await page.getByRole("button", { name: bulk.preview }).click();
  await page.getByLabel(en.factors.proof.label, { exact: true }).fill(proof);
  await answerTo(page, () => page.getByRole("button", { name: bulk.endManyConfirm }).click());
}

it("shows a user, a push and an entry of the trail in at most 64 pixels of a wide screen, and 152 of a narrow one", async () => {
  const { page } = await site.visit({ signedIn: "administrator" });
  await site.push({ payload: "secret" }, "owned");
  for (const path of ["/admin/users", "/admin/pushes", "/admin/trail"]) {
    for (const [width, heightMax] of [
      [1280, 64],
      [390, 152],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(path);
      const rows = await page.locator("tbody tr").all();
      expect(rows.length).toBeGreaterThan(0);
      const heights = await Promise.all(rows.map(async (row) => (await row.boundingBox())?.height ?? 0));
      const tooHigh = heights.filter((height) => height > heightMax);
      expect({ path, width, tooHigh }).toEqual({ path, width, tooHigh: [] });
    }
  }
});

it("leads from a search that finds nothing to the whole list, and names its filters", async () => {
  const { page } = await site.visit({ signedIn: "administrator", viewport: { width: 360, height: 800 } });
  const searches = {
    "/admin/users": "q=nobody",
    "/admin/pushes": `owner=${administratorEmail}&state=expired&kind=qr`,
    "/admin/sessions": "email=nobody",
    "/admin/settings": "q=nosuchsetting",
  };
  for (const [path, query] of Object.entries(searches)) {
    await page.goto(`${path}?${query}`);
    await page.getByRole("link", { name: admin.showAll, exact: true }).click();
    await page.waitForURL((url) => url.pathname === path && url.search === "");
    const cut = await page.evaluate(`[...document.querySelectorAll("main input[type=search]")].filter((input) => {
      input.value = input.placeholder;
      return input.scrollWidth > input.clientWidth;
    }).map(({ placeholder }) => placeholder)`);
    expect([path, cut]).toEqual([path, []]);
  }
  await page.goto("/admin/pushes");
  expect(await page.getByLabel(en.dashboard.state).locator("option:checked").textContent()).toBe("All states");
});

it("keeps each word of the links to the other pages whole on a narrow screen", async () => {
  const { page } = await site.visit({ signedIn: "administrator" });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/admin");
  const links = await page.locator(".section-tabs a").all();
  const heights = await Promise.all(links.map(async (link) => (await link.boundingBox())?.height));
  expect(heights).toEqual(links.map(() => 44));
});

it.each(languages.map(({ locale }) => locale.tag))(
  "shows the links to the other pages in one row of a wide screen, in %s",
  async (language) => {
    const { page } = await site.visit({ signedIn: "administrator" });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`/admin?locale=${language}`);
    const row = page.locator(".section-tabs");
    expect((await row.boundingBox())?.height).toBeLessThanOrEqual(48);
    expect(await row.evaluate((tabs) => tabs.scrollWidth - tabs.clientWidth)).toBe(0);
  },
);

it("shows a user with a short address in a row of 40 px on a wide screen, and of 80 px on a narrow one", async () => {
  const { page } = await site.visit({ signedIn: "administrator" });
  const row = page.locator("tbody tr").filter({ hasText: email });
  for (const [width, heightMax] of [
    [1280, 40],
    [390, 80],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto("/admin/users");
    expect((await row.boundingBox())?.height).toBeLessThanOrEqual(heightMax);
  }
});

it("breaks a long address at its dots on a narrow screen, never within a word", async () => {
  const { page } = await site.visit({ signedIn: "administrator" });
  const address = "katherine.johnson@langley.research.of.the.agency.example.org";
  await page.goto("/admin/users");
  await page.locator("summary", { hasText: admin.createUser }).click();
  await page.locator("#new_user").fill(address);
  await answerTo(page, () => page.getByRole("button", { name: admin.createUser, exact: true }).click());
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/admin/users");
  const link = page.getByRole("link", { name: address, exact: true });
  expect(await link.textContent()).toBe(address);
  const linesOfParts = await link.locator("span").evaluate((element) =>
    [...element.childNodes].flatMap((node) => {
      if (node.nodeType !== Node.TEXT_NODE) return [];
      const range = document.createRange();
      range.selectNode(node);
      return [range.getClientRects().length];
    }),
  );
  expect(linesOfParts).toEqual(address.split(/(?=[@.])/).map(() => 1));
  expect((await link.boundingBox())?.height).toBeGreaterThan(30);
});

describe("with mail and limits set", () => {
  const used = openSite({
    PWP__MAIL__SMTP_ADDRESS: "mail.example.com",
    PWP__MAIL__SMTP_PORT: "587",
    PWP__MAIL__MAILER_SENDER: "push@example.com",
    PWP__ACCOUNT_BYTES_PER_DAY: "10GiB",
    PWP__PURGE_AFTER: "30 days",
  });

  it("shows the settings on a page of at most 1,500 px: what is set, and the groups of all folded", async () => {
    const { page } = await used.visit({ signedIn: "administrator" });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto("/admin/settings");
    const setHere = page.locator("section", { has: page.getByRole("heading", { name: admin.settingsSet }) });
    const row = setHere.getByRole("row").filter({ hasText: "PWP__MAIL__SMTP_PORT" });
    expect(await row.locator("td").first().innerText()).toBe("587");
    expect(await setHere.getByRole("columnheader").allTextContents()).toEqual([admin.setting, admin.value, admin.from]);
    expect(await page.locator("details[open]").count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(1_500);
  });
});

it("fits 320 px with words that have no place to break: the instance's name, and an address in the trail", async () => {
  const { page } = await site.visit({ signedIn: "administrator", viewport: { width: 320, height: 700 } });
  await page.goto("/admin/look");
  await page.getByLabel(admin.productName, { exact: true }).fill("n".repeat(60));
  await page.locator(".button-primary[form=name_form]").click();
  await page.locator(".wordmark-name", { hasText: "nnn" }).waitFor();
  expect(await overflowing(page)).toEqual([]);
  await page.goto("/admin/trail");
  const who = page.locator("tbody tr").first().locator("td.cell-long").first();
  await who.evaluate(
    (cell, address) => {
      cell.textContent = address;
    },
    `${"0".repeat(40)}@example.com`,
  );
  expect(await overflowing(page)).toEqual([]);
  await page.goto("/admin/look");
  const reset = page.locator('form[action="/admin/look/name/reset"] button');
  await reset.click();
  await reset.waitFor({ state: "detached" });
});
