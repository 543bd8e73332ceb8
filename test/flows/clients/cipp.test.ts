import { describe, expect, test } from "vitest";
import { replayServer, wire } from "../../support/replay.ts";

/** PowerShell's Invoke-RestMethod in an Azure function. It treats every redirect as an error. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = []) => [
  `${line} HTTP/1.1`,
  `Host: ${replay.host}`,
  "User-Agent: Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.20348; en-US) PowerShell/7.4.6",
  "Accept: application/json",
  "Accept-Encoding: gzip, deflate, br",
  ...more,
];
const post = (path: string, body: object, more: readonly string[] = []) =>
  replay.send(wire(request(`POST ${path}`, ["Content-Type: application/json", ...more]), JSON.stringify(body)));

test.each(["/api/v2/version", "/api/v2/version.json", "/api/v1/version.json", "/api/v1/version"])(
  "%s is answered without a token and without a redirect",
  async (path) => {
    const answer = await replay.send(wire(request(`GET ${path}`)));
    expect([answer.status, answer.header("location")]).toEqual([200, ""]);
    expect(answer.object()).toMatchObject({ api_version: expect.any(String), edition: "oss" });
  },
);

describe.each([
  ["v2", "/api/v2/pushes", "push", { workspace_id: 3 }],
  ["v1", "/p.json", "password", { account_id: 3 }],
] as const)("API %s", (_, path, wrapper, beside) => {
  test("a number next to the wrapper is ignored when a push is created", async () => {
    const fields = { payload: "new password", expire_after_days: 7, expire_after_views: 5, retrieval_step: true };
    const more = [`Authorization: Bearer ${replay.token}`];
    const answer = await post(path, { [wrapper]: fields, ...beside }, more);
    expect(answer.status).toBe(201);
    const { html_url, url_token } = answer.object();
    expect(html_url).toBe(`${replay.origin}/p/${url_token}/r`);
    expect((await replay.send(wire(request(`GET /p/${url_token}/r`)))).status).toBe(200);
  });

  test("the link that the client builds, with /r, works for a push without a retrieval step too", async () => {
    const { url_token } = (await post(path, { [wrapper]: { payload: "x", retrieval_step: false } })).object();
    expect((await replay.send(wire(request(`GET /p/${url_token}/r`)))).status).toBe(200);
  });

  test("an error response has the names of the fields at its top level", async () => {
    const fields = { payload: "x", expire_after_days: 900, expire_after_views: 0 };
    const invalid = await post(path, { [wrapper]: fields, ...beside });
    expect([invalid.status, Object.keys(invalid.object()).sort()]).toEqual([
      422,
      ["expire_after_days", "expire_after_views"],
    ]);
    const bare = await post(path, beside);
    expect([bare.status, Object.keys(bare.object())]).toEqual([400, ["error"]]);
  });
});
