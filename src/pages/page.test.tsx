import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderPage, untranslated, withLocale } from "./page.ts";

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
  expect(renderPage(<p translate={untranslated}>secret</p>)).toBe('<!doctype html><p translate="no">secret</p>');
  const paths = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
  const views = paths.filter((path) => path.endsWith(".tsx") && !path.endsWith(".test.tsx"));
  // Preact would leave the attribute out.
  const silent = views.filter((path) =>
    readFileSync(join(import.meta.dirname, path), "utf8").includes("translate={false"),
  );
  expect(silent).toEqual([]);
});
