import { type Browser, launch, type Page } from "puppeteer-core";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { accountMenu } from "../support/account-menu.ts";
import { freePort } from "../support/free-port.ts";
import { providerName, shapes, startProvider, type TestProvider } from "../support/provider.ts";
import { openSite } from "../support/site.ts";

// The provider needs the server's address before either runs.
const port = await freePort();
const provider = await startProvider(`http://127.0.0.1:${port}`);
afterAll(() => provider.close());
const site = openSite({ ...provider.environment, PWP__OIDC__ONLY: "true", PORT: String(port) });

const readsItsFragment =
  '<!doctype html><title>provider</title><script>document.title = "read" + location.hash</script>';

/** Browsers carry the part after `#` over redirects, and it can be the key of a link. */
it.each([
  ["the sign-in page, with scripts", "/users/sign_in#the-key", true],
  ["the sign-in page, without scripts", "/users/sign_in#the-key", false],
  ["a page that redirects to it, with scripts", "/users/token#the-key", true],
  ["a page that redirects to it, without scripts", "/users/token#the-key", false],
])("the provider does not get the key in the address of %s", async (_what, path, javaScriptEnabled) => {
  const { page } = await site.visit({
    signedIn: "by hand",
    allowedOrigins: [provider.issuer],
    javaScriptEnabled,
  });
  await page.route(`${provider.issuer}/**`, (route) =>
    route.fulfill({ contentType: "text/html", body: readsItsFragment }),
  );
  await page.goto(path, { waitUntil: "commit" });
  await page.waitForURL(`${provider.issuer}/**`);
  expect(page.url()).not.toContain("the-key");
  if (javaScriptEnabled) await page.waitForFunction(() => document.title === "read");
});

const firefox = process.env.SEALPUSH_TEST_FIREFOX || undefined;
const closing: (() => Promise<void>)[] = [];
let started: Promise<Browser> | undefined;
afterAll(() => Promise.all(closing.map((close) => close())));

/** A page of a new profile. */
async function firefoxPage(): Promise<Page> {
  started ??= launch({ browser: "firefox", executablePath: firefox ?? "", headless: true, timeout: 120_000 }).then(
    (browser) => {
      closing.push(() => browser.close());
      return browser;
    },
  );
  const context = await (await started).createBrowserContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  // As long as the steps in Chromium: busy machines need it.
  page.setDefaultTimeout(120_000);
  return page;
}

/** Instead of the provider, a page answers that shows its fragment as its title. */
async function readFragments(page: Page, { issuer }: TestProvider): Promise<void> {
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const isForProvider = request.url().startsWith(issuer);
    void (isForProvider ? request.respond({ contentType: "text/html", body: readsItsFragment }) : request.continue());
  });
}

/** As the page itself sees it: the driver hears of a navigation later. */
async function addressOf(page: Page): Promise<URL> {
  return new URL(await page.evaluate(() => location.href));
}

async function expectNoFragment(page: Page): Promise<void> {
  await page.waitForFunction(() => document.title.startsWith("read"));
  expect([await page.title(), (await addressOf(page)).href.includes("the-key")]).toEqual(["read", false]);
}

it.runIf(firefox !== undefined).each(["/users/sign_in#the-key", "/users/token#the-key"])(
  "nor in Firefox: %s",
  async (path) => {
    const page = await firefoxPage();
    await readFragments(page, provider);
    await page.goto(`http://127.0.0.1:${port}${path}`, { waitUntil: "domcontentloaded" });
    await expectNoFragment(page);
  },
);

const shaped = await Promise.all(
  Object.entries(shapes).map(async ([name, shape]) => {
    const ownPort = await freePort();
    return { name, ownPort, provider: await startProvider(`http://127.0.0.1:${ownPort}`, shape) };
  }),
);
afterAll(() => Promise.all(shaped.map((each) => each.provider.close())));

describe.each(shaped)("a provider that is shaped as $name", ({ name, ownPort, provider: own }) => {
  const { issuer, people } = own;
  const isMicrosoft = name === "microsoft";
  const trust = { PWP__OIDC__TRUST_EMAIL: "issuer", PWP__OIDC__ALLOWED_DOMAINS: "example.com" };
  const shapedSite = openSite({ ...own.environment, ...(isMicrosoft && trust), PORT: String(ownPort) });

  it.each([true, false])("signs people on, and none of its addresses has the key (scripts: %s)", async (scripts) => {
    const email = `scripts-${scripts}@example.com`;
    people.set(email, { email, ...(!isMicrosoft && { email_verified: true }) });
    own.answer = { login: { accountId: email } };
    const { page } = await shapedSite.visit({
      signedIn: "by hand",
      allowedOrigins: [issuer],
      javaScriptEnabled: scripts,
    });
    const requested: string[] = [];
    page.on("request", (request) => requested.push(request.url()));
    await page.goto("/users/token#the-key");
    await page.getByRole("button", { name: en.singleSignOn.continueWith({ name: providerName }) }).click();
    await page.waitForURL("/users/token");
    expect(await accountMenu(page).getAttribute("title")).toBe(en.nav.signedInAs({ email }));
    expect(requested.filter((url) => url.startsWith(issuer))).not.toEqual([]);
    expect(requested.filter((url) => url.startsWith(issuer) && url.includes("the-key"))).toEqual([]);
    expect(page.url()).not.toContain("the-key");
  });

  it.runIf(firefox !== undefined)("gets no key from Firefox, and signs people on there", async () => {
    const address = `http://127.0.0.1:${ownPort}/users/token#the-key`;
    const button = `button[formaction="/users/auth/oidc"]`;
    const reading = await firefoxPage();
    await readFragments(reading, own);
    await reading.goto(address);
    await reading.locator(button).click();
    await expectNoFragment(reading);

    const email = "firefox@example.com";
    people.set(email, { email, ...(!isMicrosoft && { email_verified: true }) });
    own.answer = { login: { accountId: email } };
    const page = await firefoxPage();
    await page.goto(address);
    await page.locator(button).click();
    await page.waitForSelector(`[title="${en.nav.signedInAs({ email })}"]`);
    const { pathname, hash } = await addressOf(page);
    expect([pathname, hash]).toEqual(["/users/token", ""]);
  });
});
