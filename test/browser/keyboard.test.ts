import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { copyBy, pathOf } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";
import { email } from "../support/visit.ts";

const site = openSite();
const stopsMax = 60;

/** The accessible name of the focused element, and whether its focus is visible. */
interface Stop {
  readonly name: string;
  readonly seen: boolean;
}

/** The outline is drawn on the control itself, or on the label of a visually hidden control. */
function focusOf(page: Page): Promise<Stop> {
  return page.evaluate(`(() => {
    const focused = document.activeElement;
    const labels = [...(focused.labels ?? [])];
    const names = [focused.getAttribute("aria-label"), ...labels.map((label) => label.textContent), focused.textContent];
    const outlined = (element) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    };
    const name = names.map((each) => each?.trim()).find((each) => each) ?? focused.tagName;
    return { name, seen: [focused, ...labels].some(outlined) };
  })()`);
}

/** Presses Tab until the control with that name has the focus. The focus must be visible at every stop. */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  while (passed.length < stopsMax) {
    await page.keyboard.press("Tab");
    const stop = await focusOf(page);
    expect(stop).toEqual({ name: stop.name, seen: true });
    if (stop.name.startsWith(name)) return;
    passed.push(stop.name);
  }
  throw new Error(`Tab never reaches "${name}"; it reached: ${passed.join(", ")}`);
}

/** Waits for the page with that heading, and until its scripts have run. */
async function reach(page: Page, heading: string): Promise<void> {
  await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
  await page.waitForLoadState();
}

/** What a screen reader finds in the page, in its order, without times. */
async function readOut(page: Page): Promise<readonly string[]> {
  const snapshot = await page.locator("main").ariaSnapshot();
  const [, ...lines] = snapshot.split("\n");
  return lines.map((line) =>
    line
      .trim()
      .replace(/^- /, "")
      .replace(/^time: .*/, "time"),
  );
}

/** What a screen reader says of the focused field beside its name. */
const focusedField = (page: Page) =>
  page.evaluate(() => {
    const field = document.activeElement;
    const description = document.getElementById(field?.getAttribute("aria-describedby") ?? "")?.textContent;
    return { id: field?.id, description, invalid: field?.ariaInvalid };
  });

describe("with only the keyboard", () => {
  it("a secret is pushed, its link copied, opened, shown and deleted", async () => {
    const { page, context } = await site.visit({ reducedMotion: "reduce" });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/");
    await page.keyboard.type("typed by hand");
    await tabTo(page, en.newPush.more);
    await page.keyboard.press("Space");
    await tabTo(page, en.newPush.retrievalStep);
    await tabTo(page, en.newPush.expiry);
    await page.keyboard.press("ArrowUp");
    await tabTo(page, en.newPush.views);
    await tabTo(page, en.newPush.passphrase);
    await tabTo(page, en.newPush.submit);
    await page.keyboard.press("Enter");

    await reach(page, en.created.heading);
    expect(await focusOf(page)).toEqual({ name: en.created.copyLink, seen: true });
    await copyBy(page, () => page.keyboard.press("Enter"));
    const link = String(await page.evaluate("navigator.clipboard.readText()"));
    await tabTo(page, en.created.another);

    await page.goto(pathOf(link));
    await tabTo(page, en.step.open);
    await page.keyboard.press("Enter");
    await reach(page, en.secret.text);
    await tabTo(page, en.actions.copy);
    await tabTo(page, en.secret.reveal);
    await page.keyboard.press("Space");
    await page.locator("#payload").waitFor();
    await tabTo(page, en.secret.text);
    await tabTo(page, en.secret.more);
    await page.keyboard.press("Enter");
    await tabTo(page, en.secret.delete);
    await page.keyboard.press("Enter");
    await tabTo(page, en.secret.deleteConfirm);
    await page.keyboard.press("Enter");
    await reach(page, en.deleted.heading);
    expect((await page.goto(pathOf(link)))?.status()).toBe(404);
  });

  it("a push is found in the list and renamed, and a secret requested", async () => {
    const { urlToken } = await site.push({ payload: "x", name: "Router" }, "owned");
    const { page, context } = await site.visit({ signedIn: true, reducedMotion: "reduce" });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/p");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await reach(page, en.dashboard.auditTitle);
    await tabTo(page, en.dashboard.edit);
    await page.keyboard.press("Enter");
    await reach(page, en.edit.heading);
    expect((await focusOf(page)).name).toBe(en.newPush.name);
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Router, office");
    await page.keyboard.press("Enter");
    await page.waitForURL(`/p/${urlToken}/preview`);
    await page.goto("/p?q=office");
    await page.getByRole("link", { name: "Router, office", exact: true }).waitFor();

    await page.goto("/requests/new");
    await page.keyboard.type("Root password");
    await tabTo(page, en.requests.submit);
    await page.keyboard.press("Enter");
    await reach(page, "Root password");
    await tabTo(page, en.requests.copyLink);
    await page.keyboard.press("Enter");
    await page.getByRole("status").filter({ hasText: en.actions.copied }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain("/requests/");
  });

  it("a secret is opened as a screen reader reads it: in order, nothing twice, and each answer announced", async () => {
    const { page } = await site.visit();
    const { step, secret, actions } = en;
    const fields = { payload: "canary", passphrase: "phrase", expire_after_views: 2, sender_shown: true };
    await page.goto((await site.push(fields, "owned")).path);
    await page.waitForLoadState();
    const before = [
      `heading "${step.headingFrom({ sender: email })}" [level=1]`,
      `paragraph: ${step.leadPassphrase} ${step.viewsLeft({ count: 2 })}`,
      `text: ${step.passphrase}`,
    ];
    const after = [`button "${actions.show}"`, `button "${step.open}"`];
    const until = ["paragraph:", "text: It is available until", "time", "text: .", `group: ${step.about}`];
    expect(await readOut(page)).toEqual([...before, `textbox "${step.passphrase}"`, ...after, ...until]);
    expect(await focusedField(page)).toEqual({ id: "passphrase", description: undefined, invalid: null });

    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    // The field has the focus again, and its description says why.
    await page.locator('#passphrase:focus[aria-invalid="true"]').waitFor();
    expect(await focusedField(page)).toEqual({ id: "passphrase", description: step.wrong, invalid: "true" });
    const problem = [`paragraph: ${step.wrong}`, `textbox "${step.passphrase}" [invalid]`];
    expect(await readOut(page)).toEqual([...before, ...problem, ...after, ...until]);

    await page.keyboard.type("phrase");
    await page.keyboard.press("Enter");
    await reach(page, secret.text);
    // Reading goes on at the content of the page.
    await page.locator("main:focus").waitFor();
    const heading = [
      `heading "${secret.text}" [level=1]`,
      "list:",
      `listitem: ${secret.from({ sender: email })}`,
      `listitem: ${secret.viewsLeft({ count: 1 })}`,
      "listitem:",
      "text: until",
      "time",
    ];
    const end = [`group: ${secret.more}`, "status"];
    const copy = `button "${actions.copy}"`;
    await expect.poll(() => readOut(page)).toEqual([...heading, copy, "status", `group: ${secret.reveal}`, ...end]);
    // Other tests use the clipboard at the same time.
    await page.evaluate("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }");
    await tabTo(page, actions.copy);
    await copyBy(page, () => page.keyboard.press("Enter"));
    expect(await page.evaluate("globalThis.copied")).toBe("canary");
    await tabTo(page, secret.reveal);
    await page.keyboard.press("Space");
    await page.locator("#payload").waitFor();
    const shown = ["group:", `text: ${secret.conceal}`, `group "${secret.text}": canary`];
    await expect.poll(() => readOut(page)).toEqual([...heading, copy, "status", ...shown, ...end]);
  });

  it("a password is generated and inserted", async () => {
    const { page } = await site.visit();
    await page.goto("/");
    await tabTo(page, en.generator.heading);
    await page.keyboard.press("Enter");
    await tabTo(page, en.generator.format);
    await page.keyboard.press("Enter");
    await tabTo(page, en.generator.password);
    await page.keyboard.press("ArrowDown");
    await tabTo(page, en.generator.wordCount);
    await page.keyboard.press("ArrowRight");
    expect(await page.locator("#push_payload").inputValue()).toMatch(/^[a-z]+(-[a-z]+){5}$/);
  });

  it("the header can be skipped", async () => {
    const { page } = await site.visit();
    await page.goto("/p/unknown");
    await tabTo(page, en.nav.skip);
    expect(await page.getByRole("link", { name: en.nav.skip }).isVisible()).toBe(true);
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("content");
  });

  it("the focus is visible on every focusable element of a signed-in user's pages", async () => {
    const { page } = await site.visit({ signedIn: true, colorScheme: "dark" });
    await page.goto("/help/api");
    await tabTo(page, email);
    await page.keyboard.press("Enter");
    await tabTo(page, en.nav.signOut);
    await page.goto("/users/token");
    expect(await focusOf(page)).toEqual({ name: en.tokens.name, seen: true });
    await page.keyboard.press("Shift+Tab");
    expect(await focusOf(page)).toEqual({ name: en.tokens.revokeOne({ name: "test" }), seen: true });
    await tabTo(page, en.tokens.submit);
    await page.goto("/?kind=file");
    expect(await focusOf(page)).toEqual({ name: en.newPush.files, seen: true });
    await tabTo(page, en.newPush.payload.file);
    await tabTo(page, en.newPush.submit);
  });
});

interface Sight {
  readonly name: string;
  /** From the top of the page, in CSS pixels. */
  readonly top: number;
  readonly bottom: number;
  /** What covers the middle of the focused element; "": nothing. "outside": it is not in the window. */
  readonly coveredBy: string;
}

/** Presses a key until the focus leaves the page. @returns what has had the focus, in order. */
async function walk(page: Page, key: "Tab" | "Shift+Tab"): Promise<readonly Sight[]> {
  const passed: Sight[] = [];
  for (;;) {
    await page.keyboard.press(key);
    const sight = await page.evaluate(() => {
      const focused = document.activeElement;
      if (focused === null || focused === document.body) return null;
      const isHidden = focused instanceof HTMLInputElement && focused.matches(".visually-hidden");
      const shown = (isHidden ? focused.labels?.[0] : undefined) ?? focused;
      const { left, top, bottom, width, height } = shown.getBoundingClientRect();
      const found = document.elementFromPoint(left + width / 2, top + height / 2);
      const isOwn = found !== null && (shown.contains(found) || found.contains(shown));
      const name = focused.getAttribute("aria-label") ?? shown.textContent?.trim() ?? "";
      return {
        name,
        top: top + scrollY,
        bottom: bottom + scrollY,
        coveredBy: isOwn ? "" : (found?.outerHTML.slice(0, 60) ?? "outside"),
      };
    });
    if (sight === null) return passed;
    passed.push(sight);
  }
}

const covered = (passed: readonly Sight[]) => passed.filter(({ coveredBy }) => coveredBy !== "");

/** What is above that which had the focus before. */
const backwards = (passed: readonly Sight[]) => passed.filter(({ bottom }, at) => bottom <= (passed[at - 1]?.top ?? 0));

describe("what has the focus is in sight", () => {
  const phone = { viewport: { width: 360, height: 800 } } as const;

  it.each(["en", "ar"])("in a row of sections that scrolls, in %s", async (locale) => {
    const { page } = await site.visit({ ...phone, locale, signedIn: "administrator" });
    await page.goto("/admin/users");
    expect(covered(await walk(page, "Tab"))).toEqual([]);
    expect(covered(await walk(page, "Shift+Tab"))).toEqual([]);
  });

  it.each([phone, {}])("in a list with a selection, whose button stays at the edge of the window", async (options) => {
    for (const name of Array.from({ length: 15 }, (_, at) => `push ${at}`))
      await site.push({ payload: "x", name }, "owned");
    const { page } = await site.visit({ ...options, signedIn: true });
    await page.goto("/p");
    await page.locator("tbody input").first().check();
    expect(covered(await walk(page, "Tab"))).toEqual([]);
  });

  it("beside a question that covers the rows below: the question closes, as it does by Escape", async () => {
    for (const _push of [1, 2, 3]) await site.push({ payload: "x" });
    const { page } = await site.visit({ signedIn: "administrator" });
    await page.goto("/admin/pushes");
    const question = page.locator("tbody details.confirm").first();
    await question.locator("summary").press("Enter");
    await page.keyboard.press("Tab");
    expect(await question.locator("button:focus").count()).toBe(1);
    await page.keyboard.press("Escape");
    expect(await question.locator("summary:focus").count()).toBe(1);
    expect(await question.getAttribute("open")).toBeNull();
    await page.keyboard.press("Enter");
    expect(covered(await walk(page, "Tab"))).toEqual([]);
    expect(await question.getAttribute("open")).toBeNull();
  });

  it("and moves down on the page of a link, with its code, message and sheet", async () => {
    const { path } = await site.push({ payload: "x", deletable_by_viewer: true });
    const { page } = await site.visit(phone);
    await page.goto(`${path.replace(/\/r$/, "")}/preview`);
    for (const panel of await page.locator(".panel-toggle input").all()) await panel.press("Space");
    await page.locator(".site-header a").first().focus();
    const passed = await walk(page, "Tab");
    expect(passed.map(({ name }) => name)).toContain(en.created.saveCode({ format: "SVG" }));
    expect(backwards(passed)).toEqual([]);
  });

  it("and moves down on a phone: an opened question is before the buttons that are below it", async () => {
    const { page } = await site.visit({ ...phone, signedIn: "administrator" });
    await page.goto("/admin/users");
    await page.getByRole("link", { name: email, exact: true }).click();
    const questions = page.locator(".admin-subject details.confirm");
    await questions.first().waitFor();
    for (const summary of await questions.locator("summary").all()) {
      await summary.press("Enter");
      await page.locator("h1").evaluate((heading) => {
        heading.tabIndex = -1;
        heading.focus();
      });
      expect(backwards(await walk(page, "Tab"))).toEqual([]);
      await summary.press("Enter");
    }
  });
});
