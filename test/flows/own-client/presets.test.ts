import { SealpushClient } from "@sealpush/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { makeClientProgram } from "../../support/client-program.ts";
import { sendJson, startStandIn } from "../../support/stand-in.ts";

let app: TestApp;
let server: string;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  server = await app.listen();
  token = await app.makeToken("ada@example.com");
  const settings = { kind: "qr", expireAfterViews: 2 } as const;
  await app.app.domain.presets.save("instance", { name: "Short", isDefault: false, settings });
});
afterAll(() => app[Symbol.asyncDispose]());

test("the client names presets and lists them", async () => {
  const client = new SealpushClient({ server, token });
  expect(await client.presets()).toEqual([
    { name: "Short", from: "instance", group: null, default: false, kind: "qr", expire_after_views: 2 },
  ]);
  expect(await client.create({ payload: "x", preset: "Short" })).toMatchObject({ kind: "qr", expire_after_views: 2 });
  const sealed = { payload: "x", preset: "Short", kind: "text" } as const;
  expect(await client.create(sealed, { endToEnd: true })).toMatchObject({ encryption: "age", expire_after_views: 2 });
});

test("the command starts from a preset, other options win, and an unknown name is refused with those that exist", async () => {
  const program = makeClientProgram("here", { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: token });
  const push = async (...options: string[]) =>
    JSON.parse((await program.run(["push", "--json", "--preset", "Short", ...options], { stdin: "x" })).stdout);
  expect(await push()).toMatchObject({ kind: "qr", expire_after_views: 2 });
  expect(await push("--views", "7", "--kind", "text")).toMatchObject({ kind: "text", expire_after_views: 7 });
  const refused = await program.run(["push", "--preset", "Other"], { stdin: "x" });
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('is unknown. There are "Short".')]);
});

test("nothing is sent to a server that does not know presets", async () => {
  const old = await startStandIn((request, _incoming, response) =>
    sendJson(response, request.endsWith("/version") ? 200 : 404, { api_version: "2.1" }),
  );
  const client = new SealpushClient({ server: old.origin, token });
  await expect(client.create({ payload: "x", preset: "Short" })).rejects.toThrow(
    "This server does not know presets. Nothing was sent.",
  );
  expect(old.requests.filter((request) => request.startsWith("POST"))).toEqual([]);
});
