import { afterAll, beforeAll, expect, test } from "vitest";
import { noDefaults } from "../../src/accounts/accounts.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { signInClient } from "../support/signed-in-client.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

/** A browser without an account: what its form shows, and the cookies that it has. */
function newBrowser(cookies: Readonly<Record<string, string>> = {}) {
  const jar = new Map(Object.entries(cookies));
  const send = async (method: "GET" | "POST", url: string, form: Readonly<Record<string, string>> = {}) => {
    const answer = await app.server.inject({
      method,
      url,
      headers: {
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(method === "POST" && {
          "content-type": "application/x-www-form-urlencoded",
          "sec-fetch-site": "same-origin",
        }),
      },
      ...(method === "POST" && { payload: new URLSearchParams(form).toString() }),
    });
    for (const cookie of answer.cookies) {
      if (cookie.maxAge === 0) jar.delete(cookie.name);
      else jar.set(cookie.name, cookie.value);
    }
    return answer;
  };
  return { jar, send, shown: async (kind: string) => settingsIn((await send("GET", `/?kind=${kind}`)).body) };
}

function settingsIn(html: string) {
  const numberOf = (id: string) =>
    Number(new RegExp(`<input[^>]*id="${id}"[^>]*>`).exec(html)?.[0].match(/value="(\d+)"/)?.[1]);
  const isTicked = (id: string) =>
    / checked/.test(new RegExp(`<input type="checkbox" id="${id}"[^>]*>`).exec(html)?.[0] ?? "");
  return {
    days: numberOf("push_expire_after_days"),
    views: numberOf("push_expire_after_views"),
    step: isTicked("push_retrieval_step"),
    deletable: isTicked("push_deletable_by_viewer"),
  };
}

const serverDefaults = { days: 7, views: 5, step: true, deletable: true };

test("the settings that Password Pusher stored in the browser become ours once, and its cookies are removed", async () => {
  const browser = newBrowser({
    pwpush_password_days: "3",
    pwpush_password_views: "9",
    pwpush_password_retrieval_step: "false",
    pwpush_password_deletable_by_viewer: "false",
    pwpush_qr_views: "2",
    other: "1",
  });
  const first = await browser.send("GET", "/");
  expect(settingsIn(first.body)).toEqual({ days: 3, views: 9, step: false, deletable: false });
  expect(Object.fromEntries(browser.jar)).toEqual({ sealpush_form: "text-3-9-0-0_qr--2--", other: "1" });
  expect(first.cookies.find(({ name }) => name === "sealpush_form")).toMatchObject({
    httpOnly: true,
    sameSite: "Lax",
    path: "/",
    maxAge: 31_536_000,
  });
  const second = await browser.send("GET", "/");
  expect([second.cookies, settingsIn(second.body)]).toEqual([[], settingsIn(first.body)]);
  expect(await browser.shown("qr")).toEqual({ ...serverDefaults, views: 2 });
  expect(await browser.shown("url")).toEqual({ ...serverDefaults, deletable: false });
});

test.each<Readonly<Record<string, string>>>([
  { pwpush_password_days: "91", pwpush_password_views: "0" },
  { pwpush_password_days: "-1", pwpush_password_views: "1e2", pwpush_password_retrieval_step: "0" },
  { pwpush_password_days: "<script>", pwpush_password_deletable_by_viewer: "maybe" },
  { sealpush_form: "text-0-101-2-x" },
  { sealpush_form: "text-99999-7.5" },
  { sealpush_form: "nothing" },
  { sealpush_form: "__proto__-1-1-0-0" },
])("values outside the limits and unknown ones are ignored: %j", async (cookies) => {
  expect(await newBrowser(cookies).shown("text")).toEqual(serverDefaults);
});

test("a form whose box is ticked is remembered for its kind, and replaces what Password Pusher stored", async () => {
  const browser = newBrowser({ pwpush_password_days: "3", pwpush_url_views: "4" });
  const fields = {
    "push[kind]": "text",
    "push[payload]": "x",
    "push[expire_after_days]": "2",
    "push[expire_after_views]": "1",
    "push[retrieval_step]": "0",
    "push[deletable_by_viewer]": "1",
  };
  expect((await browser.send("POST", "/p", { ...fields, "push[remember]": "0" })).statusCode).toBe(303);
  expect(browser.jar.has("sealpush_form")).toBe(false);
  const refused = await browser.send("POST", "/p", { ...fields, "push[payload]": "", "push[remember]": "1" });
  expect([refused.statusCode, browser.jar.has("sealpush_form")]).toEqual([422, false]);
  expect(refused.body).toMatch(/id="push_remember"[^>]* checked/);
  expect((await browser.send("POST", "/p", { ...fields, "push[remember]": "1" })).statusCode).toBe(303);
  expect(browser.jar.get("sealpush_form")).toBe("text-2-1-0-1_url--4--");
  expect(await browser.shown("text")).toEqual({ days: 2, views: 1, step: false, deletable: true });
});

test("an expiry of less than a day is remembered, and a number of days replaces it", async () => {
  const browser = newBrowser();
  const fields = { "push[kind]": "text", "push[payload]": "x", "push[remember]": "1" };
  const create = (expiry: Readonly<Record<string, string>>) => browser.send("POST", "/p", { ...fields, ...expiry });
  const chosen = async () => {
    const { body } = await browser.send("GET", "/");
    const [, select = ""] = body.split('id="push_expire_after_duration"');
    return /<option value(?:="(\d*)")? selected/.exec(select)?.[1] ?? "";
  };
  expect(await chosen()).toBe("12");
  await create({ "push[expire_after_duration]": "0", "push[expire_after_days]": "7" });
  expect(browser.jar.get("sealpush_form")).toBe("text-15m-5-1-1");
  expect(await chosen()).toBe("0");
  await create({ "push[expire_after_duration]": "13" });
  expect([browser.jar.get("sealpush_form"), await chosen()]).toEqual(["text-14-5-1-1", "13"]);
  await create({ "push[expire_after_duration]": "", "push[expire_after_days]": "10" });
  expect([browser.jar.get("sealpush_form"), await chosen()]).toEqual(["text-10-5-1-1", ""]);
  browser.jar.set("sealpush_form", "text-17m-5-1-1");
  expect(await chosen()).toBe("12");
});

test("an account's own defaults win, and its form does not offer to remember", async () => {
  const person = await signInClient(app, "ada@example.com", { join: true });
  const user = await app.app.domain.accounts.findUserByEmail("ada@example.com");
  await app.app.domain.accounts.setPushDefaults(user?.id ?? 0, {
    ...noDefaults,
    kinds: { text: { expireAfterDays: 11 } },
  });
  const page = await person.get("/", { cookie: `${person.cookie()}; sealpush_form=text-15m-9-0-0` });
  expect(page.body).not.toMatch(/<option value="0" selected/);
  expect(settingsIn(page.body)).toEqual({ days: 11, views: 9, step: false, deletable: false });
  expect(page.body).not.toContain("push[remember]");
});

test("the API uses the server's defaults alone", async () => {
  const answer = await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: { cookie: "sealpush_form=text-3-9-0-0; pwpush_password_days=3" },
    payload: { push: { payload: "x" } },
  });
  expect(answer.json()).toMatchObject({ expire_after_days: 7, expire_after_views: 5, retrieval_step: true });
});
