import { expect, test } from "vitest";
import { renderPage, withLocale } from "./page.ts";

test.each([
  ["/", "/?locale=pt-BR"],
  ["/p?state=expired", "/p?state=expired&locale=pt-BR"],
  ["/users/token?locale=en", "/users/token?locale=pt-BR"],
  ["/p?locale=de&page=2&locale=fr", "/p?page=2&locale=pt-BR"],
  ["/p/t/preview?done=mailed#mail_link", "/p/t/preview?done=mailed&locale=pt-BR#mail_link"],
  ["/users/sign_in?next=%2Fp%3Flocale%3Den", "/users/sign_in?next=%2Fp%3Flocale%3Den&locale=pt-BR"],
  ["https://push.example.com/p/t/r?locale=de", "https://push.example.com/p/t/r?locale=pt-BR"],
])("the language is the only `locale` of %s", (address, expected) => {
  expect(withLocale(address, "pt-BR")).toBe(expected);
});

test("text that must not be translated says so to browsers", () => {
  expect(renderPage(<p translate={false}>secret</p>)).toBe('<!doctype html><p translate="no">secret</p>');
});
