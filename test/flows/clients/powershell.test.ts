import { expect, test } from "vitest";
import { replayServer, wire } from "../../support/replay.ts";

/** KpPwpush, PwPoSh and PS-PwUtils on Windows PowerShell 5.1: JSON on API v1, without a token. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = []) => [
  `${line} HTTP/1.1`,
  "User-Agent: Mozilla/5.0 (Windows NT; Windows NT 10.0; de-DE) WindowsPowerShell/5.1.19041.5737",
  `Host: ${replay.host}`,
  ...more,
];

const post = (type: string, body: object, charset: "latin1" | "utf8") =>
  replay.send(
    wire(request("POST /p.json", [`Content-Type: ${type}`]), Buffer.from(JSON.stringify(body, null, 4), charset)),
  );

const retrieve = async (token: unknown) => (await replay.send(wire(request(`GET /p/${token}.json`)))).object();

test("a password of ASCII characters is created with the fields of each module", async () => {
  const bodies = [
    { payload: "geheim", note: "", expire_after_days: 7, expire_after_views: 5, deletable_by_viewer: true },
    { payload: "geheim", expire_after_days: 7, expire_after_views: 5, first_view: "false" },
  ];
  for (const password of bodies) {
    const made = await post("application/json", { password }, "latin1");
    expect([made.status, made.object()]).toMatchObject([201, { expire_after_days: 7, expire_after_views: 5 }]);
    expect(await retrieve(made.object().url_token)).toMatchObject({ payload: "geheim" });
  }
});

test("other characters are refused as Latin-1, which PowerShell 5.1 sends, and kept as UTF-8 with its charset", async () => {
  const password = { payload: "Schlüssel" };
  expect((await post("application/json", { password }, "latin1")).status).toBe(400);
  const made = await post("application/json; charset=utf-8", { password }, "utf8");
  expect(made.status).toBe(201);
  expect(await retrieve(made.object().url_token)).toMatchObject(password);
});
