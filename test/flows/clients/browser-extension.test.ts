import { encode } from "uqr";
import { expect, test } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { replayServer, wire } from "../../support/replay.ts";

/** The official browser extension: fetch from a page of the extension. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = []) => [
  `${line} HTTP/1.1`,
  `Host: ${replay.host}`,
  "Connection: keep-alive",
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
  "Accept: */*",
  "Origin: chrome-extension://abcdefghijklmnopabcdefghijklmnop",
  "Sec-Fetch-Site: none",
  "Sec-Fetch-Mode: cors",
  "Sec-Fetch-Dest: empty",
  "Accept-Encoding: gzip, deflate, br, zstd",
  "Accept-Language: en-US,en;q=0.9",
  ...more,
];
const bearer = (token: string) => `Authorization: Bearer ${token}`;

async function make(fields: object): Promise<string> {
  const body = JSON.stringify({ push: fields, account_id: 7 });
  const more = [bearer(replay.token), "Content-Type: application/json"];
  const answer = await replay.send(wire(request("POST /api/v2/pushes?account_id=7", more), body));
  expect(answer.status).toBe(201);
  return String(answer.object().html_url);
}

test("the version is answered without a token and names the edition", async () => {
  for (const path of ["/api/v2/version", "/api/v2/version.json"]) {
    const answer = await replay.send(wire(request(`GET ${path}`)));
    expect([answer.status, answer.object()]).toMatchObject([
      200,
      { api_version: "2.1", edition: "oss", features: { accounts: { enabled: false }, requests: { enabled: false } } },
    ]);
  }
});

test("this server's version is at least 2.5, which the extension requires", () => {
  const [major = 0, minor = 0] = packageJson.version.split(".").map(Number);
  expect(major > 2 || (major === 2 && minor >= 5)).toBe(true);
});

test.each(["/api/v2/accounts", "/api/v2/requests", "/api/v2/accounts.json", "/api/v2/requests.json"])(
  "%s is answered with 404 for every token, because the extension interprets 401 and 403 as an existing feature",
  async (path) => {
    for (const more of [[bearer(replay.token)], [bearer("bad-token")], []]) {
      const answer = await replay.send(wire(request(`GET ${path}`, more)));
      expect([answer.status, answer.object()]).toEqual([404, { error: "not-found" }]);
    }
  },
);

test("an account_id is ignored when a push is created", async () => {
  const link = await make({ payload: "correct horse", expire_after_days: 3, expire_after_views: 2 });
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/p\/[a-z0-9]+\/r$/);
  const token = link.split("/").at(-2);
  const preview = await replay.send(wire(request(`GET /api/v2/pushes/${token}/preview`, [bearer(replay.token)])));
  expect(preview.object()).toEqual({ url: link });
});

test.each([true, false])(
  "the first SVG of the preview page is the QR code of the link (retrieval step: %s)",
  async (step) => {
    const link = await make({ payload: "correct horse", expire_after_views: 1, retrieval_step: step });
    const answer = await replay.send(wire(request(`GET ${new URL(link).pathname}/preview`)));
    expect([answer.status, answer.header("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const drawing = /<svg.*?<\/svg>/s.exec(answer.text)?.[0] ?? "";
    expect(drawing).toContain('xmlns="http://www.w3.org/2000/svg"');
    expect(darkModules(drawing)).toEqual(modulesOf(link));

    const opened = await replay.send(wire(request(`GET /api/v2/pushes/${new URL(link).pathname.split("/")[2]}`)));
    expect(opened.object().payload).toBe("correct horse");
  },
);

test("the preview page of an ended push has no QR code", async () => {
  const link = await make({ payload: "x", expire_after_views: 1 });
  const path = new URL(link).pathname;
  await replay.send(wire(request(`GET /api/v2/pushes/${path.split("/")[2]}`)));
  const answer = await replay.send(wire(request(`GET ${path}/preview`)));
  expect([answer.status, answer.text.includes("qr-code")]).toEqual([404, false]);
});

function modulesOf(text: string): readonly string[] {
  const { data } = encode([...Buffer.from(text)], { ecc: "L", boostEcc: true, border: 4 });
  return data.map((row) => row.map((dark) => (dark ? "#" : " ")).join(""));
}

/** The modules of an SVG by row. Its path consists of runs, each a rectangle one module high. */
function darkModules(drawing: string): readonly string[] {
  const side = Number(/viewBox="0 0 (\d+) \1"/.exec(drawing)?.[1]);
  const rows = Array.from({ length: side }, () => Array.from({ length: side }, () => " "));
  for (const [, x, y, width] of drawing.matchAll(/M(\d+) (\d+)h(\d+)v1H\1z/g)) {
    rows[Number(y)]?.fill("#", Number(x), Number(x) + Number(width));
  }
  return rows.map((row) => row.join(""));
}
