import { describe, expect, test } from "vitest";
import { formEnd, formPart, replayServer, wire } from "../../support/replay.ts";

/** A launcher in Python that builds links with a locale, and with another first segment for each kind. */
const replay = replayServer();

const get = (path: string) =>
  replay.send(wire([`GET ${path} HTTP/1.1`, `Host: ${replay.host}`, "Accept: text/html", "Connection: close"]));

async function make(): Promise<string> {
  const lines = [
    "POST /p.json HTTP/1.1",
    "Accept-Encoding: identity",
    "Content-Type: application/x-www-form-urlencoded",
    `Host: ${replay.host}`,
    "User-Agent: Python-urllib/3.8",
    "Connection: close",
  ];
  const made = await replay.send(wire(lines, "password%5Bpayload%5D=x&password%5Bexpire_after_views%5D=1"));
  expect(made.status).toBe(201);
  return String(made.object().url_token);
}

test("POST /f.json with a file and no payload creates a file push", async () => {
  const boundary = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
  const lines = [
    "POST /f.json HTTP/1.1",
    `Host: ${replay.host}`,
    "User-Agent: python-requests/2.28.1",
    "Accept-Encoding: gzip, deflate",
    "Accept: */*",
    "Connection: keep-alive",
    `X-User-Email: ${replay.email}`,
    `X-User-Token: ${replay.token}`,
    `Content-Type: multipart/form-data; boundary=${boundary}`,
  ];
  const file = ['Content-Disposition: form-data; name="file_push[files][]"; filename="plan.txt"'];
  const made = await replay.send(wire(lines, `${formPart(boundary, file, "hello")}${formEnd(boundary)}`));
  expect(made.status).toBe(201);
  const { url_token } = made.object();
  expect((await get(`/en/f/${url_token}`)).header("location")).toBe(`/p/${url_token}?locale=en`);
  expect((await get(`/f/${url_token}.json`)).object()).toMatchObject({
    payload: null,
    files: [{ filename: "plan.txt" }],
  });
});

describe("links with a locale redirect to the push, and redirects count no view", () => {
  test.each(["/en/p/T", "/en/f/T", "/de/r/T", "/pt-BR/p/T/r", "/zh-CN/p/T/preview", "/f/T", "/r/T", "/f/T/r"])(
    "%s",
    async (link) => {
      const token = await make();
      const answer = await get(link.replace("T", token));
      const tail = link.slice(link.indexOf("T") + 1);
      const locale = /^\/([\w-]{2,})\//.exec(link)?.[1];
      const query = locale === undefined ? "" : `?locale=${locale}`;
      expect([answer.status, answer.header("location")]).toEqual([301, `/p/${token}${tail}${query}`]);
      expect((await get(answer.header("location"))).status).toBe(200);
      expect((await get(`/p/${token}.json`)).object()).toMatchObject({ payload: "x", expired: false });
    },
  );

  test("the query is kept unchanged, but for its language", async () => {
    const token = await make();
    const answer = await get(`/en/p/${token}?locale=ja&x=%2F%2Fa%20b&passphrase=a+b`);
    expect(answer.header("location")).toBe(`/p/${token}?x=%2F%2Fa%20b&passphrase=a+b&locale=en`);
  });
});

test.each(["/api/p/x", "/users/p/x", "/english/p/x", "/en-/p/x", "/f/%2F%2Fevil.example", "//evil.example/p/x"])(
  "%s is not redirected",
  async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.header("location"), answer.header("x-a")]).toEqual([404, "", ""]);
  },
);
