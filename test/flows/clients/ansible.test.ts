import { expect, test } from "vitest";
import { replayServer, wire } from "../../support/replay.ts";

/** The module `uri` of Ansible with `body_format: form-multipart`: the parts that Python's email package writes. */
const filesBytesMax = 3_000;
const replay = replayServer({ PWP__FILES__MAX_PUSH_BYTES: String(filesBytesMax) });

const boundary = "===============7330845974216740156==";
const certificate = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

const request = (type: string) => [
  "POST /api/v2/pushes HTTP/1.1",
  "Accept-Encoding: identity",
  `Content-Type: ${type}`,
  `Host: ${replay.host}`,
  "User-Agent: ansible-httpget",
  `Authorization: Bearer ${replay.token}`,
  "Connection: close",
];

const field = (name: string, value: string) =>
  `--${boundary}\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

const file = (encoding: string, content: string) =>
  `--${boundary}\r\nContent-Transfer-Encoding: ${encoding}\r\nContent-Type: application/x-x509-ca-cert\r\n` +
  `Content-Disposition: form-data; name="push[files][]"; filename="cert.pem"\r\n\r\n${content}\r\n`;

const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/.{1,76}/g, "$&\r\n");

const post = (...parts: string[]) =>
  replay.send(wire(request(`multipart/form-data; boundary="${boundary}"`), `${parts.join("")}--${boundary}--\r\n`));

test("a file that comes as base64 is stored as it was", async () => {
  const made = await post(field("push[kind]", "file"), file("base64", base64(certificate)));
  expect([made.status, made.object()]).toMatchObject([201, { kind: "file" }]);
  const opened = await (await fetch(`${replay.origin}/api/v2/pushes/${String(made.object().url_token)}`)).json();
  const { files } = opened as { files: readonly { filename: string; url: string }[] };
  expect(files).toMatchObject([{ filename: "cert.pem", content_type: "application/x-x509-ca-cert" }]);
  const content = await fetch(new URL(new URL(files[0]?.url ?? "").pathname, replay.origin));
  expect(Buffer.from(await content.arrayBuffer())).toEqual(certificate);
});

test("a field may be encoded, too", async () => {
  const payload =
    `--${boundary}\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Disposition: form-data; name="push[payload]"` +
    "\r\n\r\ngr=C3=BC=\r\nn\r\n";
  const made = await post(payload);
  expect(made.status).toBe(201);
  const opened = await fetch(`${replay.origin}/api/v2/pushes/${String(made.object().url_token)}`);
  expect(await opened.json()).toMatchObject({ payload: "grün" });
});

test("the limit of files counts the bytes that they decode to", async () => {
  const largest = await post(field("push[kind]", "file"), file("base64", base64(Buffer.alloc(filesBytesMax))));
  expect(largest.status).toBe(201);
  const larger = await post(field("push[kind]", "file"), file("base64", base64(Buffer.alloc(filesBytesMax + 1))));
  expect(larger.status).toBe(413);
});

test("other encodings are 415, and content that is not in its encoding is 400", async () => {
  expect((await post(file("x-uuencode", "begin 644 a"))).status).toBe(415);
  expect((await post(file("base64", "not base64!"))).status).toBe(400);
});
