import { SealpushClient } from "@sealpush/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { sendJson, startStandIn } from "../../support/stand-in.ts";

let app: TestApp;
let server: string;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  server = await app.listen();
  token = await app.makeToken("ada@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

const fields = [
  { label: "User", value: "ada", type: "text" },
  { label: "Password", value: "correct horse", type: "secret" },
] as const;
const text = "User: ada\nPassword: correct horse";

async function* once(content: string) {
  yield Buffer.from(content);
}

test.each([false, true])("fields are sent and retrieved, end to end: %j", async (endToEnd) => {
  const client = new SealpushClient({ server, token });
  const made = await client.create({ fields }, { endToEnd });
  expect(await client.retrieve(made.html_url)).toMatchObject({ payload: text, fields });
  const file = { filename: "a.txt", content: () => once("in a"), sizeBytes: 4 };
  const withFile = await client.create({ fields, files: [file] }, { endToEnd });
  expect(await client.retrieve(withFile.html_url)).toMatchObject({
    payload: text,
    fields,
    files: [{ filename: "a.txt" }],
  });
});

test("end to end the server sees no label, and invalid fields are refused before anything is sent", async () => {
  const sent: string[] = [];
  const client = new SealpushClient({
    server,
    token,
    fetch: async (input, init) => {
      sent.push(await new Request(input, init).text());
      return await fetch(input, init);
    },
  });
  const made = await client.create({ fields }, { endToEnd: true });
  for (const private_ of ["User", "Password", "correct horse"]) expect(sent.join()).not.toContain(private_);
  expect(made).not.toHaveProperty("fields");
  const before = sent.length;
  const twice = { fields: [fields[0], { ...fields[1], label: "USER" }] };
  await expect(client.create(twice, { endToEnd: true })).rejects.toThrow("Field 2 is not valid (label twice).");
  await expect(client.create({ fields, payload: "x" }, { endToEnd: true })).rejects.toThrow("not both");
  expect(sent.slice(before).join("")).toBe("");
});

test("a push whose server ignored the fields is ended", async () => {
  const old = await startStandIn((request, _incoming, response) => {
    if (request.endsWith("/version")) return sendJson(response, 200, { api_version: "2.1" });
    return sendJson(response, request.startsWith("POST") ? 201 : 200, { url_token: "abc" });
  });
  const client = new SealpushClient({ server: old.origin });
  const files = [{ filename: "a.txt", content: () => once("in a") }];
  await expect(client.create({ fields, files })).rejects.toThrow("does not know fields");
  expect(old.requests.at(-1)).toBe("DELETE /api/v2/pushes/abc");
});
