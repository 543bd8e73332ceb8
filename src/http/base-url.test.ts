import { expect, test } from "vitest";
import { AppError } from "../base/errors.ts";
import { createBaseUrls } from "./base-url.ts";

const at = (host: string, https = false) => ({
  address: "192.0.2.1",
  key: "192.0.2.1",
  https,
  host,
  fromTrustedProxy: false,
});

test("the base URL is the request's own protocol and host", () => {
  const baseUrl = createBaseUrls({ overrideBaseUrl: undefined, allowedHosts: [] });
  expect(baseUrl(at("Push.Example:5100"))).toBe("http://push.example:5100");
  expect(baseUrl(at("push.example", true))).toBe("https://push.example");
  expect(baseUrl(at("[::1]:5100"))).toBe("http://[::1]:5100");
  expect(baseUrl(at("127.0.0.1:5100"))).toBe("http://127.0.0.1:5100");
});

test.each([
  "",
  " ",
  "a b",
  "a/b",
  "a@b",
  "a:b",
  "a:123456",
  "[::1",
  "a\u0000",
  "ä.example",
  "<script>",
  "a".repeat(300),
])("%j is not a host", (host) => {
  const baseUrl = createBaseUrls({ overrideBaseUrl: undefined, allowedHosts: [] });
  expect(() => baseUrl(at(host))).toThrow(AppError);
});

test("only allowed hosts and the configured base URL are accepted", () => {
  const baseUrl = createBaseUrls({
    overrideBaseUrl: "https://main.example",
    allowedHosts: ["a.example", ".b.example"],
  });
  for (const host of ["a.example", "a.example:80", "A.example.", "b.example", "x.y.b.example", "main.example"]) {
    expect(baseUrl(at(host))).toBe("https://main.example");
  }
  for (const host of ["xa.example", "a.example.evil", "xb.example", "evil"]) {
    expect(() => baseUrl(at(host))).toThrow("does not answer for that host");
  }
});

test("the cache of hosts is bounded and does not mix hosts up", () => {
  const baseUrl = createBaseUrls({ overrideBaseUrl: undefined, allowedHosts: [] });
  for (let i = 0; i < 1_000; i += 1) expect(baseUrl(at(`h${i}.example`))).toBe(`http://h${i}.example`);
});
