import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { commonKeys } from "../support/push-answers.ts";

let app: TestApp;
let authorization: string;
beforeAll(async () => {
  app = await startTestApp();
  authorization = `Bearer ${await app.makeToken("owner@example.com")}`;
});
afterAll(() => app[Symbol.asyncDispose]());

const fields = [
  { label: "User", value: "ada" },
  { label: "Password", value: "a\nb", type: "secret" },
  { label: "Code", value: "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP", type: "otp" },
];
const whole = fields.map(({ label, value, type = "text" }) => ({ label, value, type }));
const text = "User: ada\nPassword:\na\nb\nCode: otpauth://totp/x?secret=JBSWY3DPEHPK3PXP";

async function create(push: object) {
  return await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: { authorization },
    payload: { push },
  });
}

const retrieve = async (urlToken: string) => (await app.server.inject({ url: `/api/v2/pushes/${urlToken}` })).json();

test("v2 answers fields with every type, and their text as the payload; v1 only the text", async () => {
  const made = await create({ fields });
  expect([made.statusCode, made.json()]).toEqual([
    201,
    expect.objectContaining({
      kind: "text",
      fields: [
        { label: "User", type: "text" },
        { label: "Password", type: "secret" },
        { label: "Code", type: "otp" },
      ],
    }),
  ]);
  expect(made.body).not.toContain("JBSWY3DPEHPK3PXP");
  const { url_token: urlToken } = made.json();
  expect(await retrieve(urlToken)).toMatchObject({ payload: text, fields: whole });
  const v1 = (await app.server.inject({ url: `/p/${urlToken}.json` })).json();
  expect(v1.payload).toBe(text);
  expect(Object.keys(v1)).toEqual([...commonKeys, "payload", "files"]);
});

test("other pushes, and one that has ended, have no such key", async () => {
  const plain = (await create({ payload: "x" })).json();
  expect(plain).not.toHaveProperty("fields");
  expect(await retrieve(plain.url_token)).not.toHaveProperty("fields");
  const { url_token: urlToken } = (await create({ fields, expire_after_views: 1 })).json();
  expect(await retrieve(urlToken)).toHaveProperty("fields");
  const gone = await retrieve(urlToken);
  expect(gone).toMatchObject({ payload: null, files: [] });
  expect(gone).not.toHaveProperty("fields");
});

test("a file push has them instead of its text", async () => {
  const files = [{ filename: "a.txt", data: "aGVsbG8=" }];
  const { url_token: urlToken, kind } = (await create({ fields, files })).json();
  expect(kind).toBe("file");
  expect(await retrieve(urlToken)).toMatchObject({ payload: text, fields: whole, files: [{ filename: "a.txt" }] });
});

test.each([
  ["application/x-www-form-urlencoded", (list: string) => new URLSearchParams({ "push[fields]": list }).toString()],
  [
    "multipart/form-data; boundary=b",
    (list: string) => `--b\r\ncontent-disposition: form-data; name="push[fields]"\r\n\r\n${list}\r\n--b--\r\n`,
  ],
])("in %s the list is JSON text", async (type, encode) => {
  const send = async (list: string) =>
    await app.server.inject({
      method: "POST",
      url: "/api/v2/pushes",
      headers: { "content-type": type },
      payload: encode(list),
    });
  const made = await send(JSON.stringify(fields));
  expect(made.statusCode).toBe(201);
  expect(await retrieve(made.json().url_token)).toMatchObject({ fields: whole });
  for (const bad of ["no JSON", "{}", '["a"]', `${"[".repeat(100)}`]) {
    const refused = await send(bad);
    expect([bad, refused.statusCode, refused.json()]).toEqual([
      bad,
      422,
      { fields: ["must be a list of objects with label, value, type."] },
    ]);
  }
});

describe("422 on fields:", () => {
  test.each<[string, object, string[]]>([
    ["beside a payload", { fields, payload: "x" }, ["must not be sent with a payload."]],
    ["of a qr push", { fields, kind: "qr" }, ["are only for text and file pushes."]],
    ["of a url push", { fields, kind: "url" }, ["are only for text and file pushes."]],
    ["an empty list", { fields: [] }, ["must be 1 to 30 fields."]],
    ["no list", { fields: { label: "a", value: "b" } }, ["must be a list of objects with label, value, type."]],
    [
      "another type",
      { fields: [...fields, { label: "a", value: "b", type: "x" }] },
      ["4: type must be one of text, secret, otp."],
    ],
    ["a label of blanks", { fields: [{ label: "  ", value: "x" }] }, ["1: the label is empty."]],
    ["no value", { fields: [{ label: "a" }] }, ["1: value is missing."]],
    ["a value that is no text", { fields: [{ label: "a", value: {} }] }, ["1: value must be a string."]],
    [
      "each problem with its number",
      { fields: [...fields, { label: "USER", value: "" }] },
      ["4: the label is used twice.", "4: the value is empty."],
    ],
    [
      "a seed that makes no codes",
      { fields: [{ label: "a", value: `otpauth://totp/x?secret=${"=".repeat(60_000)}`, type: "otp" }] },
      [expect.stringMatching(/^1: the value must be otpauth:/)],
    ],
  ])("%s", async (_, push, problems) => {
    const answer = await create(push);
    expect([answer.statusCode, answer.json()]).toEqual([422, { fields: problems }]);
  });

  test("beside encryption", async () => {
    const answer = await create({ fields, encryption: "age" });
    expect([answer.statusCode, answer.json().fields]).toEqual([422, ["must be sealed in the payload."]]);
  });
});

test("null and nothing count as not given, and an empty payload beside fields too", async () => {
  for (const none of [null, ""])
    expect((await create({ fields: none, payload: "x" })).json()).not.toHaveProperty("fields");
  for (const payload of [null, ""]) expect((await create({ fields, payload })).statusCode).toBe(201);
});

test("v1 ignores them", async () => {
  const answer = await app.server.inject({
    method: "POST",
    url: "/p.json",
    payload: { password: { payload: "x", fields: "not even a list" } },
  });
  expect(answer.statusCode).toBe(201);
});

test("the server says that it has them", async () => {
  expect((await app.server.inject({ url: "/api/sealpush" })).json().features).toContain("fields");
});
