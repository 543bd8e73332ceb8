import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { countRows } from "../support/engine-database.ts";
import { signInClient } from "../support/signed-in-client.ts";

let app: TestApp;
let origin: string;
beforeAll(async () => {
  app = await startTestApp();
  origin = await app.listen();
  await app.makeToken("root@example.com", true);
});
afterAll(async () => app[Symbol.asyncDispose]());

const shell = { userId: null, email: "shell", address: "" };
const ownPage = { "sec-fetch-site": "same-origin" };
const formType = "application/x-www-form-urlencoded";
const boundary = "held";
/** Small bodies have to arrive within seconds. */
const padding = "x".repeat(20_000);
/** Name, what follows it in the header, and content of each part. */
const multipart = [
  ...["push[kind]", "", "file"],
  ...["push[files][]", '; filename="a.txt"\r\nContent-Type: text/plain', padding],
];

function multipartBody(): string {
  const parts = [];
  for (let at = 0; at < multipart.length; at += 3) {
    const [name, more, content] = multipart.slice(at, at + 3);
    parts.push(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more ?? ""}\r\n\r\n${content ?? ""}\r\n`,
    );
  }
  return `${parts.join("")}--${boundary}--\r\n`;
}

/** The server may take a form for complete before its last bytes have arrived. */
const heldBytes = 100;

/** A request whose end is sent by `finish`, which returns the status of the answer. */
async function hold(path: string, headers: Readonly<Record<string, string>>, body: string) {
  const { hostname, port, host } = new URL(origin);
  const lines = Object.entries({ ...headers, host, "content-length": String(body.length), connection: "close" });
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text;
  });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await new Promise<void>((resolve) =>
    socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${body.slice(0, -heldBytes)}`, () => resolve()),
  );
  // What came before is admitted by then.
  for (let at = 0; at < 5; at += 1) await (await fetch(`${origin}/api/v2/version`)).text();
  return {
    async finish(): Promise<number> {
      socket.write(body.slice(-heldBytes));
      await closed;
      return Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1]);
    },
  };
}

const made = async () => {
  const { db } = app.app.domain;
  return { pushes: await countRows(db, "pushes"), groups: await countRows(db, "user_groups") };
};

test.each([
  { name: "JSON", type: "application/json", body: JSON.stringify({ push: { payload: padding } }), status: 201 },
  { name: "files", type: `multipart/form-data; boundary=${boundary}`, body: multipartBody(), status: 201 },
])(
  "an API token that is revoked while the body arrives creates nothing: $name",
  async ({ name, type, body, status }) => {
    const { accounts } = app.app.domain;
    const user = await accounts.createUser({ email: `${name}@example.com`.toLowerCase(), password, admin: false });
    const { token, apiToken } = await accounts.createToken(user.id, "test");
    const headers = { authorization: `Bearer ${token}`, "content-type": type };
    expect(await (await hold("/api/v2/pushes", headers, body)).finish()).toBe(status);
    const before = await made();
    const held = await hold("/api/v2/pushes", headers, body);
    await accounts.revokeToken(user.id, apiToken.id);
    expect(await held.finish()).toBe(401);
    expect(await made()).toEqual(before);
    expect(await countRows(app.app.domain.db, "uploads")).toBe(0);
  },
);

test.each([
  { name: "disabled", status: 401, withdraw: (id: number) => app.app.domain.accounts.setDisabled(id, true, shell) },
  { name: "demoted", status: 404, withdraw: (id: number) => app.app.domain.accounts.setAdmin(id, false, shell) },
])("an administrator who is $name while a form arrives changes nothing", async ({ name, status, withdraw }) => {
  const email = `${name}@example.com`;
  const admin = await signInClient(app, email, { join: true, admin: true });
  const headers = { ...ownPage, cookie: admin.cookie(), "content-type": formType };
  expect(await (await hold("/admin/groups", headers, `name=${name}+before&padding=${padding}`)).finish()).toBe(303);
  const before = await made();
  const held = await hold("/admin/groups", headers, `name=${name}+after&padding=${padding}`);
  await withdraw((await app.app.domain.accounts.findUserByEmail(email))?.id ?? 0);
  expect(await held.finish()).toBe(status);
  expect(await made()).toEqual(before);
});

test("a session that ends while the files of a form arrive creates nothing, and none of them is left", async () => {
  const email = "uploader@example.com";
  const sender = await signInClient(app, email, { join: true });
  const headers = { ...ownPage, cookie: sender.cookie(), "content-type": `multipart/form-data; boundary=${boundary}` };
  expect(await (await hold("/p", headers, multipartBody())).finish()).toBe(303);
  const before = await made();
  const held = await hold("/p", headers, multipartBody());
  await app.app.domain.accounts.setDisabled(
    (await app.app.domain.accounts.findUserByEmail(email))?.id ?? 0,
    true,
    shell,
  );
  expect(await held.finish()).toBe(401);
  expect(await made()).toEqual(before);
  expect(await countRows(app.app.domain.db, "uploads")).toBe(0);
});
