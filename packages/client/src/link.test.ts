import { describe, expect, test } from "vitest";
import { readLink, readRequestLink, urlTokenIn } from "./link.ts";

const server = "https://push.example.com";

describe("readLink", () => {
  test.each([
    "/p/abc-_1",
    "/p/abc-_1/r",
    "/p/abc-_1/r?locale=de",
    "/de/p/abc-_1",
    "/pt-BR/f/abc-_1/r",
    "/r/abc-_1",
    "/p/abc-_1.json",
    "/p/abc-_1/preview",
  ])("%s", (path) => {
    expect(readLink(`${server}${path}`)).toEqual({ server, urlToken: "abc-_1", fragment: "" });
  });

  test.each([".", ",", ")", "%29", '"', "'.", ">", "]", "\u3002", "%20", "?locale=de)"])(
    "reads a link into which a program has taken %j",
    (end) => {
      for (const path of ["/p/abc-_1", "/p/abc-_1/r"])
        expect(readLink(`${server}${path}${end}`)).toEqual({ server, urlToken: "abc-_1", fragment: "" });
    },
  );

  test.each(["/p/abc-_1%23KEY-1", "/p/abc-_1/r%23KEY-1"])("reads the key behind the encoded # of %s", (path) => {
    expect(readLink(`${server}${path}`)).toEqual({ server, urlToken: "abc-_1", fragment: "KEY-1" });
  });

  test("keeps the folder of the server and the fragment", () => {
    expect(readLink("http://127.0.0.1:5100/push/p/abc/r#key")).toEqual({
      server: "http://127.0.0.1:5100/push",
      urlToken: "abc",
      fragment: "key",
    });
  });

  test.each([
    "abc",
    "/p/abc",
    `${server}/`,
    `${server}/p/`,
    `${server}/p/a%20b`,
    `${server}/users/sign_in`,
    "ftp://push.example.com/p/abc",
  ])("%s is no link of a push", (text) => {
    expect(readLink(text)).toBeUndefined();
  });
});

test.each(["", "/answers", "/answers/"])("readRequestLink reads a link to a request that ends with %j", (end) => {
  const link = `${server}/push/requests/abc-_1${end}`;
  const behind = end === "" ? { fragment: "", fingerprint: "key" } : { fragment: "key", fingerprint: "" };
  for (const sign of ["#", "%23"])
    expect(readRequestLink(`${link}${sign}key`)).toEqual({ server: `${server}/push`, urlToken: "abc-_1", ...behind });
  expect(readLink(link)).toBeUndefined();
  expect(readRequestLink(`${server}/p/abc-_1`)).toBeUndefined();
});

describe("urlTokenIn", () => {
  test("accepts a token and a link of this server only", () => {
    expect(urlTokenIn("abc", server)).toBe("abc");
    expect(urlTokenIn(`${server}/p/abc/r`, server)).toBe("abc");
    expect(() => urlTokenIn("https://other.example.com/p/abc", server)).toThrow(
      "The link belongs to https://other.example.com and not to https://push.example.com.",
    );
    for (const text of ["", "../version", "a/b", "a?b"])
      expect(() => urlTokenIn(text, server)).toThrow("neither the link");
  });
});
