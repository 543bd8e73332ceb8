import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import type { PageState } from "./page-state.ts";
import { pageStates } from "./page-states.ts";
import type { Site } from "./site.ts";
import type { Visit } from "./visit.ts";

const require = createRequire(import.meta.url);
/** Minified: each page gets its own copy, and reads it. */
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const viewport = { width: 1280, height: 720 } as const;
const widths = [360, 1280] as const;
const schemes = ["light", "dark"] as const;
/** No color depends on the language, and what overlaps in the other direction does so in light, too. */
const schemesOfArabic = ["light"] as const;

/**
 * One test per page, in light and dark, narrow and wide: axe finds no violation, and the page does not scroll sideways, with
 * text of twice the size either.
 * @param paths receives the path of each page as the tests run.
 */
export function testLayout(
  site: Site,
  locale: string,
  pages: readonly PageState[] = pageStates,
  paths = new Set<string>(),
): void {
  const visitFor = shareVisits(site, locale);
  it.each(pages)("$name", async (state) => {
    const { page, expectNoFaults } = await visitFor(state);
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: schemes[0] });
    try {
      await state.show(page, site);
      paths.add(new URL(page.url()).pathname);
      expect(await page.locator("html").getAttribute("lang")).toBe(locale);
      await expectAccessibleLayout(page);
    } finally {
      await forget(page);
    }
    await expectNoFaults();
  });
}

/**
 * The states with the same options share a visit and its page: the process of the page keeps the compiled axe. Starting a process
 * and compiling axe take longer than all checks of a state.
 */
function shareVisits(site: Site, locale: string): (state: PageState) => Promise<Visit> {
  const visits = new Map<string, Promise<Visit>>();
  const ends: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return ({ signedIn, userAgent, allowedOrigins = [] }) => {
    const options = { ...(signedIn && { signedIn }), ...(userAgent !== undefined && { userAgent }), allowedOrigins };
    const whole = { ...options, locale, viewport, reducedMotion: "reduce" } as const;
    // A state that signs in by hand needs a browser that is not signed in.
    if (signedIn === "by hand") return site.visit(whole);
    const key = JSON.stringify(options);
    const visit = visits.get(key) ?? site.visit(whole, (end) => ends.push(end));
    visits.set(key, visit);
    return visit;
  };
}

/** What the page has stored, and that something was typed: it would ask before the next state is shown. */
async function forget(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    localStorage.clear();
    sessionStorage.clear();
    addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true);
  })()`);
}

/** Checks the page in light and dark, narrow and wide, and that text of twice the size fits a narrow screen. */
export async function expectAccessibleLayout(page: Page): Promise<void> {
  await page.evaluate(axe);
  const isArabic = (await page.locator("html").getAttribute("lang")) === "ar";
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    for (const fontSize of width === widths[0] ? ["200%", ""] : [""]) {
      await page.evaluate(`document.documentElement.style.fontSize = ${JSON.stringify(fontSize)}`);
      expect({ width, fontSize, overflowing: await overflowing(page) }).toEqual({ width, fontSize, overflowing: [] });
    }
    for (const colorScheme of isArabic ? schemesOfArabic : schemes) {
      await page.emulateMedia({ colorScheme });
      const rules = colorScheme === schemes[0] ? everyRule : rulesAboutColors;
      expect({ width, colorScheme, violations: await violationsIn(page, rules) }).toEqual({
        width,
        colorScheme,
        violations: [],
      });
    }
  }
}

/** Best practices included. */
const everyRule = {};
/** The others give the same in each color scheme. */
const rulesAboutColors = { runOnly: ["color-contrast", "link-in-text-block"] };

async function violationsIn(page: Page, rules: object): Promise<unknown> {
  return page.evaluate(`axe.run(document, ${JSON.stringify({ ...rules, resultTypes: ["violations"] })}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => [id, html, any[0]?.message])))`);
}

/** The elements that make the page scroll sideways. */
export async function overflowing(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const root = document.scrollingElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    return [...document.querySelectorAll("body *")].filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      if (!element.checkVisibility()) return false;
      return right > root.clientWidth + 1 || left < -1;
    }).slice(0, 5).map((element) => element.outerHTML.slice(0, 120));
  })()`);
}
