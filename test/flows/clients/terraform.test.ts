import { describe, expect, test } from "vitest";
import { formEnd, formPart, replayServer, wire } from "../../support/replay.ts";

/** Two Terraform providers in Go, both on API v1. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = []) => [
  `${line} HTTP/1.1`,
  `Host: ${replay.host}`,
  "User-Agent: Go-http-client/1.1",
  ...more,
];
const credentials = () => [`X-User-Email: ${replay.email}`, `X-User-Token: ${replay.token}`];

describe("the provider that sends every push as a multipart form", () => {
  const boundary = "5f0c2a7d9e1b4c3f8a6d0e2b7c9f1a3d5e7b9c1f3a5d7e9b1c3f5a7d9e1b";
  const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
  const field = (name: string, value: string) =>
    formPart(boundary, [`Content-Disposition: form-data; name="${name}"`], value);

  test("a push without a file and with an account_id is created", async () => {
    const body = [
      field("password[payload]", "line one\nline two"),
      field("password[account_id]", "12"),
      field("password[expire_after_days]", "2"),
      field("password[expire_after_views]", "10"),
      field("password[deletable_by_viewer]", "false"),
      field("password[retrieval_step]", "true"),
      field("password[passphrase]", ""),
      field("password[note]", ""),
      formEnd(boundary),
    ].join("");
    const made = await replay.send(wire(request("POST /p.json", [...credentials(), type]), body));
    expect(made.status).toBeLessThan(300);
    const push = made.object();
    expect(push).toMatchObject({
      expire_after_days: 2,
      expire_after_views: 10,
      deletable_by_viewer: false,
      retrieval_step: true,
    });
    const opened = await replay.send(wire(request(`GET /p/${push.url_token}.json`, ["Accept-Encoding: gzip"])));
    expect(opened.object().payload).toBe("line one\nline two");
  });

  test("a push with a file is created", async () => {
    const file = formPart(
      boundary,
      [
        'Content-Disposition: form-data; name="password[files][]"; filename="key.pem"',
        "Content-Type: application/octet-stream",
      ],
      "-----BEGIN KEY-----\n",
    );
    // The provider always sends a kind.
    const fields = [field("password[payload]", "see attached"), field("password[kind]", "text")];
    const body = [...fields, file, formEnd(boundary)].join("");
    const made = await replay.send(wire(request("POST /p.json", [...credentials(), type]), body));
    expect(made.status).toBe(201);
    const opened = await replay.send(wire(request(`GET /p/${made.object().url_token}.json`)));
    expect(opened.object()).toMatchObject({ payload: "see attached", files: [{ filename: "key.pem" }] });
  });

  test("deleting an active or deleted push is answered with 200, deleting an unknown one with 404", async () => {
    const body = `${field("password[payload]", "x")}${formEnd(boundary)}`;
    const { url_token } = (await replay.send(wire(request("POST /p.json", [...credentials(), type]), body))).object();
    const destroy = async (token: unknown) =>
      (await replay.send(wire(request(`DELETE /p/${token}.json`, credentials())))).status;
    expect([await destroy(url_token), await destroy(url_token), await destroy("never-was")]).toEqual([200, 200, 404]);
  });
});

describe("the provider that sends JSON and reads every body", () => {
  const make = (password: object, more: readonly string[] = credentials()) =>
    replay.send(
      wire(request("POST /p.json", [...more, "Content-Type: application/json"]), JSON.stringify({ password })),
    );

  test("null means no passphrase", async () => {
    const made = await make({ payload: "x", passphrase: null, note: null, expire_after_days: 1, name: null });
    expect([made.status, made.object()]).toMatchObject([
      201,
      { passphrase: "", expire_after_days: 1, name: "", note: "" },
    ]);
    expect((await replay.send(wire(request(`GET /p/${made.object().url_token}.json`)))).object().payload).toBe("x");
  });

  test("a body without the wrapper is refused in JSON", async () => {
    const fields = { payload: "x", passphrase: null, deletable_by_viewer: false, retrieval_step: false, kind: "text" };
    const lines = request("POST /p.json", ["Content-Type: application/json"]);
    const answer = await replay.send(wire(lines, JSON.stringify(fields)));
    expect([answer.status, answer.object()]).toEqual([400, { error: expect.stringContaining('"password"') }]);
  });

  test("error responses are JSON", async () => {
    expect((await make({ payload: "x", expire_after_views: -1 })).object()).toHaveProperty("expire_after_views");
    expect(
      (await make({ payload: "x" }, ["X-User-Email: a@example.com", "X-User-Token: bad"])).object(),
    ).toHaveProperty("error");
    expect((await replay.send(wire(request("GET /p/never-was.json")))).object()).toEqual({ error: "not-found" });
  });
});
