import { expect, test } from "vitest";
import { startOtherServer } from "../support/other-server.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const oneView = { payload: "canary", retrieval_step: false, expire_after_views: 1 };

test("our own pages load no link, neither as an image or a font nor by a script", async () => {
  const { urlToken } = await site.push(oneView, "owned");
  const { page } = await site.visit({ expectedErrors: /img-src|font-src|frame-src|403/ });
  await page.goto("/");
  const refused = (start: string) =>
    page.evaluate<string>(`new Promise((resolve) => {
      document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), { once: true });
      ${start};
    })`);
  const path = `/p/${urlToken}`;
  expect(await refused(`new Image().src = "${path}"`)).toBe("img-src");
  expect(await refused(`new FontFace("a", "url(${path})").load().catch(() => undefined)`)).toBe("font-src");
  expect(
    await refused(`document.body.append(Object.assign(document.createElement("iframe"), { src: "${path}" }))`),
  ).toBe("frame-src");
  expect(await page.evaluate<number>(`fetch("${path}").then(({ status }) => status)`)).toBe(403);
  expect(await site.auditKinds(urlToken)).toEqual(["creation"]);
  await page.goto(path);
  expect(await page.locator("#payload").textContent()).toBe("canary");
});

test("our own pages show images of the assets and the theme, at a name and at an address", async () => {
  const { page } = await site.visit({ allowedOrigins: [site.baseUrl.replace("127.0.0.1", "localhost")] });
  for (const host of ["127.0.0.1", "localhost"]) {
    await page.goto(`${site.baseUrl.replace("127.0.0.1", host)}/`);
    const icon = await page.locator('link[rel="icon"]').getAttribute("href");
    const loaded = page.evaluate<number>(`new Promise((resolve, reject) => {
      const image = new Image();
      image.onload = () => resolve(image.naturalWidth);
      image.onerror = () => reject(new Error("refused"));
      image.src = "${icon}";
    })`);
    expect(await loaded).toBeGreaterThan(0);
  }
});

test("an image of another server opens no link", async () => {
  const { urlToken } = await site.push(oneView, "owned");
  const address = `${site.baseUrl}/p/${urlToken}`;
  const otherServer = await startOtherServer(`<!doctype html><title>Other</title><img src="${address}">`);
  const { page } = await site.visit({ allowedOrigins: [otherServer.foreignOrigin], expectedErrors: /403|ERR_BLOCKED/ });
  // The answer is not for other origins, but the server has seen the request.
  const asked = page.waitForEvent("requestfailed", (request) => request.url() === address);
  await page.goto(`${otherServer.foreignOrigin}/`);
  await asked;
  expect(await site.auditKinds(urlToken)).toEqual(["creation"]);
});
