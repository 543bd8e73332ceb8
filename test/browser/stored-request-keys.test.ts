import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { dayMs, minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { openSite } from "../support/site.ts";
import { administratorEmail, email, password, type Visit } from "../support/visit.ts";

const site = openSite();
const { requests: text, step, secret, nav, signIn } = en;
const passphrase = "an unlikely row of words";

/** Makes a request and answers it, in two browsers. @returns the path of its answers, without a key. */
async function askAndAnswer(page: Page, keyPassphrase = ""): Promise<string> {
  await page.goto("/requests/new");
  await page.getByLabel(text.title, { exact: true }).fill("Root password");
  await page.getByLabel(text.passphrase, { exact: true }).fill(keyPassphrase);
  await page.getByRole("button", { name: text.submit }).click();
  await page.waitForURL(/\/answers#/);
  await page.getByText(keyPassphrase === "" ? text.opensByLink : text.opensByPassphrase).waitFor();
  const link = await page.locator("#link").inputValue();
  const { page: sender } = await site.visit();
  await sender.goto(link);
  await sender.getByLabel(text.text, { exact: true }).fill("hunter2");
  await sender.getByRole("button", { name: text.send }).click();
  await sender.getByRole("heading", { name: text.sentHeading }).waitFor();
  return new URL(page.url()).pathname;
}

async function openFrom(page: Page): Promise<void> {
  await page.getByRole("link", { name: text.openAnswer }).click();
  await page.getByRole("button", { name: step.open }).click();
  await page.getByText(secret.reveal).first().waitFor();
  expect(await page.locator("#payload").textContent()).toBe("hunter2");
}

/** What is stored in this browser, without the keys themselves. */
const storedIn = (page: Page) =>
  page.evaluate(async () => {
    const opened = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const names = (await indexedDB.databases()).map(({ name }) => name);
    if (!names.includes("sealpush")) return [];
    const database = await opened(indexedDB.open("sealpush"));
    const records = await opened(database.transaction("request_keys").objectStore("request_keys").getAll());
    database.close();
    return records.map(({ account, request, key }) => ({ account, request, extractable: key.extractable }));
  });

/** Stores keys of these ages, as of requests that the server has refused or never got. */
async function storeUnmade(page: Page, agesMs: readonly number[]): Promise<void> {
  await page.evaluate(
    (ages) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open("sealpush");
        opening.onsuccess = () => {
          const transaction = opening.result.transaction("request_keys", "readwrite");
          const store = transaction.objectStore("request_keys");
          const all = store.getAll();
          all.onsuccess = () => {
            for (const age of ages) {
              store.put({ ...all.result[0], check: `of age ${age}`, request: null, storedAt: Date.now() - age });
            }
          };
          transaction.oncomplete = () => {
            opening.result.close();
            resolve();
          };
          transaction.onerror = () => reject(transaction.error);
        };
      }),
    agesMs,
  );
}

async function signInAs(page: Page, address: string, stays: boolean): Promise<void> {
  await page.goto("/users/sign_in");
  await page.getByLabel(signIn.email, { exact: true }).fill(address);
  await page.getByLabel(signIn.password, { exact: true }).fill(password);
  if (stays) await page.getByLabel(signIn.stay, { exact: true }).check();
  await page.getByRole("button", { name: signIn.submit, exact: true }).click();
  await page.waitForURL((url) => url.pathname === "/");
}

async function signOut(page: Page): Promise<void> {
  await page.goto("/users/sign_out");
  await page.locator("main").getByRole("button", { name: nav.signOut }).click();
  await page.getByRole("link", { name: nav.signIn }).first().waitFor();
}

describe("the key of a request", () => {
  it("stays in the browser that made it: the address from the email and the list open the answers", async () => {
    const { page } = await site.visit({ signedIn: true });
    const answersPath = await askAndAnswer(page);
    await page.goto("/");
    await page.goto(answersPath);
    await page.getByText(text.keyUntilSignOut).waitFor();
    expect(await page.locator("#private_link").isVisible()).toBe(false);
    await openFrom(page);
    expect(page.url()).not.toContain("AGE-SECRET-KEY");

    const second = await askAndAnswer(page);
    await page.goto("/requests");
    await page.locator(`a[href="${second}"]`).click();
    await openFrom(page);
    const stored = await storedIn(page);
    expect(stored.map(({ extractable }) => extractable)).toEqual([false, false]);
    expect(stored.map(({ request }) => `/requests/${request}/answers`).toSorted()).toEqual(
      [answersPath, second].toSorted(),
    );
  });

  it("stays as well if it also has a passphrase, which is not typed in the browser that made it", async () => {
    const { page } = await site.visit({ signedIn: true });
    const answersPath = await askAndAnswer(page, passphrase);
    await page.goto(answersPath);
    expect(await page.getByLabel(text.passphrase, { exact: true }).isVisible()).toBe(false);
    await openFrom(page);

    const { page: elsewhere } = await site.visit({ signedIn: true });
    await elsewhere.goto(answersPath);
    await elsewhere.getByLabel(text.passphrase, { exact: true }).fill(passphrase);
    await elsewhere.getByRole("button", { name: text.unlock }).click();
    await elsewhere.getByText(text.opensByPassphrase).waitFor();
    expect(await storedIn(elsewhere)).toHaveLength(1);
  });

  it.each([false, true])("is removed at sign-out, unless the person stays signed in (stays: %s)", async (stays) => {
    const { page } = await site.visit({ signedIn: "by hand" });
    await signInAs(page, email, stays);
    const answersPath = await askAndAnswer(page);
    await page.getByText(stays ? text.keyStays : text.keyUntilSignOut).waitFor();
    await signOut(page);
    expect(await storedIn(page)).toHaveLength(stays ? 1 : 0);
    await signInAs(page, email, false);
    await page.goto(answersPath);
    if (stays) await page.getByRole("link", { name: text.openAnswer }).waitFor();
    else await page.getByText(text.keyMissing).waitFor();
  });

  it("is of one account: another one in the same browser does not have it, and its sign-out keeps it", async () => {
    const { page } = await site.visit({ signedIn: "by hand" });
    await signInAs(page, email, true);
    await askAndAnswer(page);
    const [own] = await storedIn(page);
    await signOut(page);
    await signInAs(page, administratorEmail, false);
    await page.goto("/requests");
    expect(await page.evaluate(() => document.documentElement.dataset.account)).not.toBe(own?.account);
    await signOut(page);
    expect(await storedIn(page)).toEqual([own]);
  });

  it("is removed at the next visit when the request is gone, or was not made within a day", async () => {
    const visit: Visit = await site.visit({ signedIn: true });
    const { page } = visit;
    const [deleted, kept] = [await askAndAnswer(page), await askAndAnswer(page)];
    await page.goto(deleted);
    await storeUnmade(page, [dayMs - minuteMs, dayMs + minuteMs]);
    await page.getByText(text.delete, { exact: true }).first().click();
    await page.getByRole("button", { name: text.delete, exact: true }).click();
    await page.waitForURL("**/requests");
    await expect
      .poll(async () =>
        (await storedIn(page)).map(({ request }) => request && `/requests/${request}/answers`).toSorted(),
      )
      .toEqual([kept, null]);
  });
});
