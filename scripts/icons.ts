import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { launchBrowser } from "../test/support/browser.ts";
import { root } from "./bundles.ts";

const designDir = join(root, "src/pages/design");

/** `seal`: the part of the width that the seal takes. Systems cut a maskable icon to a circle of four fifths. */
const icons = [
  { name: "icon-180.png", size: 180, seal: 0.8, background: "#f5f6f3" },
  { name: "icon-192.png", size: 192, seal: 1, background: "transparent" },
  { name: "icon-512.png", size: 512, seal: 1, background: "transparent" },
  { name: "icon-maskable-512.png", size: 512, seal: 0.6, background: "#f5f6f3" },
];

/** Draws the icons of the web app from the favicon: systems do not accept SVG everywhere. */
const svg = await readFile(join(designDir, "favicon.svg"), "utf8");
const browser = await launchBrowser();
try {
  for (const { name, size, seal, background } of icons) {
    const page = await browser.newPage({ viewport: { width: size, height: size } });
    const image = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    const place = `width:${size}px;height:${size}px;background:${background} url("${image}") center/${seal * 100}% no-repeat`;
    await page.setContent(`<body style="margin:0"><div style='${place}'></div>`);
    await page.waitForFunction("document.readyState === 'complete'");
    await writeFile(join(designDir, name), await page.screenshot({ omitBackground: true }));
    await page.close();
  }
} finally {
  await browser.close();
}
