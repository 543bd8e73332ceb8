import type { BrowserContext, Locator } from "playwright-core";

/**
 * Looks at a QR code as it stands on the screen, its quiet zone included.
 * @param side modules along one side, the quiet zone's too.
 * @returns for each row of modules which of them are dark in their middle.
 */
export async function darkModules(code: Locator, side: number, context: BrowserContext): Promise<unknown> {
  const picture = (await code.screenshot()).toString("base64");
  const eye = await context.browser()?.newContext();
  if (eye === undefined) throw new Error("The visit has no browser.");
  try {
    const page = await eye.newPage();
    return await page.evaluate(`(async () => {
      const picture = await createImageBitmap(await (await fetch("data:image/png;base64,${picture}")).blob());
      const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
      canvas.drawImage(picture, 0, 0);
      const at = (row, column) => canvas.getImageData(
        Math.floor((column + 0.5) * picture.width / ${side}),
        Math.floor((row + 0.5) * picture.height / ${side}), 1, 1).data;
      const numbers = [...Array(${side}).keys()];
      return numbers.map((row) => numbers.map((column) => {
        const [red, green, blue] = at(row, column);
        return red + green + blue < 384;
      }));
    })()`);
  } finally {
    await eye.close();
  }
}
