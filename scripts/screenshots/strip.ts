import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { makePush, writeSecret } from "./shots.ts";

/** Sizes in CSS pixels. All frames of the strip have one height. */
const desktop = { width: 1040, height: 760 };
const phone = { width: 390, height: 844 };
const stripHeight = 352;
const stripWidth = 1180;
const pixelRatio = 2;

/**
 * The first picture of the README: writing a secret, its link, and the page that the recipient opens on a phone, side by side.
 */
export async function takeStrips(browser: Browser, origin: string, outDir: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    const open = async (viewport: typeof desktop) => {
      const context = await browser.newContext({
        viewport,
        colorScheme,
        locale: "en-GB",
        reducedMotion: "reduce",
        deviceScaleFactor: pixelRatio,
      });
      return context.newPage();
    };
    const page = await open(desktop);
    await writeSecret(page, origin);
    const write = await pictureOf(page);
    await makePush(page, origin);
    const link = await pictureOf(page);
    const { pathname } = new URL(await page.locator("#link").inputValue());
    const recipient = await open(phone);
    await recipient.goto(`${origin}${pathname}`);
    const opened = await pictureOf(recipient);
    const strip = await open({ width: stripWidth, height: stripHeight });
    await strip.setContent(stripOf([write, link, opened], colorScheme));
    await strip.screenshot({ path: join(outDir, `strip-${colorScheme}.png`), omitBackground: true });
    for (const one of [page, recipient, strip]) await one.context().close();
  }
}

async function pictureOf(page: Page): Promise<string> {
  await page.evaluate(() => window.scrollTo(0, 0));
  return `data:image/png;base64,${(await page.screenshot()).toString("base64")}`;
}

function stripOf(pictures: readonly string[], colorScheme: "light" | "dark"): string {
  const edge = colorScheme === "light" ? "#dadfda" : "#2c3734";
  const images = pictures.map((picture) => `<img src="${picture}" alt="">`).join("");
  return `<!doctype html><style>
    body { display: flex; justify-content: space-between; margin: 0; padding: 1px; background: transparent }
    img { height: ${stripHeight - 4}px; border: 1px solid ${edge}; border-radius: 8px }
  </style>${images}`;
}
