import { type Browser, chromium, type Download } from "playwright-core";
import { askRun } from "./run/ask.ts";

/** The Chromium of the test run. Closing it ends only what was opened through this connection. */
export async function connectBrowser(): Promise<Browser> {
  return await chromium.connect(await askRun("POST", "browser"));
}

/** The content of a downloaded file. */
export async function contentOf(download: Download): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return Buffer.concat(chunks);
}
