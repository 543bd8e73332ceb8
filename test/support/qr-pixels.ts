import type { BrowserContext, Locator } from "playwright-core";
import { encode } from "uqr";

/** Modules of the quiet zone that are compared; the fourth one has rounded corners. */
const quietModules = 3;

/** The expected QR code of `text`: for each row, which modules are dark. */
export function modulesOf(text: string): readonly (readonly boolean[])[] {
  return encode([...Buffer.from(text)], { ecc: "L", boostEcc: true, border: quietModules }).data;
}

/**
 * Reads a QR code from the screen.
 * @param side modules along one side of `modulesOf`.
 * @returns the same as `modulesOf`, by the colour in the middle of each module.
 */
export async function modulesSeen(code: Locator, side: number, context: BrowserContext): Promise<unknown> {
  const picture = (await code.screenshot()).toString("base64");
  const whole = side + 2;
  const eye = await context.browser()?.newContext();
  if (eye === undefined) throw new Error("The visit has no browser.");
  try {
    const page = await eye.newPage();
    return await page.evaluate(`(async () => {
      const picture = await createImageBitmap(await (await fetch("data:image/png;base64,${picture}")).blob());
      const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
      canvas.drawImage(picture, 0, 0);
      const at = (row, column) => canvas.getImageData(
        Math.floor((column + 0.5) * picture.width / ${whole}),
        Math.floor((row + 0.5) * picture.height / ${whole}), 1, 1).data;
      const numbers = [...Array(${side}).keys()].map((number) => number + 1);
      return numbers.map((row) => numbers.map((column) => {
        const [red, green, blue] = at(row, column);
        return red + green + blue < 384;
      }));
    })()`);
  } finally {
    await eye.close();
  }
}
