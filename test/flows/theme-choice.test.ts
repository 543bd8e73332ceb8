import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";

async function open(mode = "auto") {
  const fixture = await startTestApp({ environment: { PWP__THEME_MODE: mode } });
  const post = (fields: Readonly<Record<string, string>>, site = "same-origin") =>
    fixture.server.inject({
      method: "POST",
      url: "/theme",
      headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": site },
      payload: new URLSearchParams(fields).toString(),
    });
  const colours = async (cookie: string) => {
    const { body } = await fixture.server.inject({ url: "/", headers: { cookie } });
    const [button = ""] = /<button [^>]*aria-pressed="true"[^>]*>/.exec(body) ?? [];
    const pressed = / value="(\w+)"/.exec(button)?.[1];
    return [/<meta name="color-scheme" content="([^"]*)"/.exec(body)?.[1], pressed];
  };
  return { fixture, post, colours, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

test.each([
  ["auto", "light dark"],
  ["light", "light"],
  ["dark", "dark"],
])("a person's choice of %s wins over the setting of the instance", async (mode, scheme) => {
  await using site = await open(mode === "dark" ? "light" : "dark");
  const answer = await site.post({ theme: mode, next: "/p/new?kind=url" });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, "/p/new?kind=url"]);
  const cookie = String(answer.headers["set-cookie"]);
  expect(cookie).toMatch(new RegExp(`^sealpush_theme=${mode}; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax$`));
  expect(await site.colours(cookie.split(";")[0] ?? "")).toEqual([scheme, mode]);
});

test("an unknown choice in the cookie is ignored, and in the form refused", async () => {
  await using site = await open("dark");
  expect(await site.colours("sealpush_theme=sepia")).toEqual(["dark", "dark"]);
  const answer = await site.post({ theme: "sepia" });
  expect([answer.statusCode, answer.headers["set-cookie"]]).toEqual([400, undefined]);
});

test.each(["https://evil.example/", "//evil.example", "/\\evil.example"])(
  "%s is no page to return to",
  async (next) => {
    await using site = await open();
    expect((await site.post({ theme: "dark", next })).headers.location).toBe("/");
  },
);

test("another site cannot change the choice", async () => {
  await using site = await open();
  const answer = await site.post({ theme: "dark" }, "cross-site");
  expect([answer.statusCode, answer.headers["set-cookie"]]).toEqual([403, undefined]);
});
