import { request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { type CanaryClient, multipart } from "../support/canary-client.ts";
import {
  addTokenCanary,
  api,
  begin,
  browser,
  createByJson,
  email,
  fieldsOf,
  finish,
  formRequest,
  fromOurPage,
  jsonRequest,
} from "../support/canary-requests.ts";

/** Sends the beginning of a multipart body and hangs up. */
async function sendCutUpload(client: CanaryClient, authorization: string, content: string): Promise<void> {
  const { headers, body } = multipart([{ name: "push[files][]", value: content, filename: "cut.txt" }]);
  const request = httpRequest(`${client.server.baseUrl}${api}`, {
    method: "POST",
    headers: { ...Object(headers), authorization, "content-length": String(body).length },
  });
  const closed = new Promise((resolve) => request.once("close", resolve));
  request.once("error", () => undefined);
  await new Promise((resolve) => request.write(String(body).slice(0, -100), resolve));
  request.destroy();
  await closed;
}

describe("no secret is stored or sent where it does not belong", () => {
  it("when files are uploaded as multipart and JSON and downloaded with tickets", async () => {
    const signed = await begin();
    const { client, bearer } = signed;
    const [content, filename] = [client.canaries.makeCore("content"), client.canaries.makeCore("filename")];
    const file = { name: "push[files][]", value: `${content}\n`.repeat(1_000), filename: `${filename}.txt` };
    const form = multipart([file]);
    const sent = [
      { ...form, headers: { ...Object(form.headers), ...bearer } },
      form,
      jsonRequest(
        { files: [{ filename: `${filename}.txt`, data: Buffer.from(file.value).toString("base64") }] },
        bearer,
      ),
    ];
    for (const [at, request] of sent.entries()) {
      const { text } = await client.ask(201, api, request);
      const push = client.newPush(`file ${at}`);
      const urlToken = addTokenCanary(client, text, push);
      const opened = await client.ask(200, `${api}/${urlToken}`, {}, [push.labels.token, "filename"]);
      const ticket = /\/files\/([\w-]+)"/.exec(opened.text)?.[1] ?? "";
      client.canaries.add(`ticket ${at}`, ticket);
      const path = `/files/${ticket}`;
      await client.ask(200, path, {}, ["content", "filename"]);
      await client.ask(206, path, { headers: { range: "bytes=40-400" } }, ["content", "filename"]);
      await client.ask(416, path, { headers: { range: "bytes=99999999-" } });
      await client.ask(200, path, { method: "HEAD" }, ["filename"]);
      await client.ask(404, `/files/${ticket.slice(0, -2)}AA`);
      await client.ask(404, `/files/${ticket}x`.repeat(3));
      await client.ask(200, `${api}/${urlToken}`, { method: "DELETE" }, [push.labels.token]);
      await client.ask(404, path);
    }
    await sendCutUpload(client, bearer.authorization, file.value);
    await finish(client);
  });

  it("when a push is changed by the API, also in vain", async () => {
    const signed = await begin();
    const { client, bearer } = signed;
    const { urlToken, push } = await createByJson(signed, "before", { expire_after_views: 9 });
    const after = client.newPush("after");
    const path = `/api/sealpush/pushes/${urlToken}`;
    const filename = client.canaries.makeCore("filename");
    const files = [
      { filename: `${filename}.txt`, data: Buffer.from(client.canaries.makeCore("content")).toString("base64") },
    ];
    const edit = (
      status: number,
      fields: object,
      headers: Readonly<Record<string, string>> = bearer,
      shows: string[] = [],
    ) => client.ask(status, path, { ...jsonRequest(fields, headers), method: "PATCH" }, shows);
    const changes = { ...fieldsOf(after), files };
    await edit(401, changes, {});
    await edit(422, { ...changes, kind: "url" });
    await edit(422, { payload: after.payload, current_passphrase: client.canaries.make("guess") });
    await edit(422, {
      ...changes,
      remove_files: [{ filename: client.canaries.make("unknown file") }],
      expire_after_views: 0,
    });
    const known = [push.labels.token];
    await edit(200, { ...changes, current_passphrase: push.passphrase }, bearer, known);
    const opened = { headers: { "x-push-passphrase": after.passphrase } };
    const { text } = await client.ask(200, `${api}/${urlToken}`, opened, [
      push.labels.token,
      after.labels.payload,
      "filename",
    ]);
    client.canaries.add("ticket", /\/files\/([\w-]+)"/.exec(text)?.[1] ?? "");
    await client.ask(200, `${api}/${urlToken}`, { method: "DELETE", headers: bearer }, known);
    await edit(410, changes);
    await finish(client);
  });

  it("when a file is sent in several requests", async () => {
    const { client, password } = await begin();
    const credentials = new URLSearchParams({ email, password });
    const { headers } = await client.ask(303, "/users/sign_in", {
      method: "POST",
      headers: fromOurPage,
      body: credentials,
    });
    const cookie = headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    client.canaries.add("session", cookie.split("=", 2)[1] ?? "");
    const session = { "sec-fetch-site": "same-origin", cookie };
    const tus = { ...session, "tus-resumable": "1.0.0" };
    const [content, filename] = [client.canaries.makeCore("content"), client.canaries.makeCore("filename")];
    const body = `${content}\n`.repeat(4_000);
    const metadata = `filename ${Buffer.from(filename).toString("base64")}`;
    const length = { "upload-length": String(Buffer.byteLength(body)), "upload-metadata": metadata };
    // The address is new and in no canary yet.
    const opened = await client.ask(201, "/uploads", { method: "POST", headers: { ...tus, ...length } });
    const path = opened.headers.get("location") ?? "";
    client.canaries.add("upload", path.slice("/uploads/".length));
    const part = { ...tus, "content-type": "application/offset+octet-stream" };
    const send = (status: number, offset: number, sent: string) =>
      client.ask(status, path, {
        method: "PATCH",
        headers: { ...part, "upload-offset": String(offset) },
        body: sent,
      });
    await send(204, 0, body.slice(0, 70_000));
    await client.expectNothingStored();
    await send(409, 5, body);
    await send(400, 65_536, `${body}${body}`);
    await client.ask(412, path, { method: "HEAD", headers: session });
    await client.ask(404, `${path.slice(0, -2)}AA`, { method: "HEAD", headers: tus });
    await client.ask(404, path, { method: "DELETE", headers: { "sec-fetch-site": "none", "tus-resumable": "1.0.0" } });
    await client.ask(200, path, { method: "HEAD", headers: tus });
    const named = new URLSearchParams({ "push[kind]": "file", "push[uploads][]": path.slice("/uploads/".length) });
    await client.ask(422, "/p", { method: "POST", headers: session, body: named });
    await client.ask(204, path, { method: "DELETE", headers: tus });
    await finish(client);
  });

  it("when a user signs in, creates a push with the form, creates a token and signs out", async () => {
    const { client, password } = await begin();
    const wrong = client.canaries.make("wrong password");
    const signIn = (given: string, name = email): RequestInit => ({
      method: "POST",
      headers: fromOurPage,
      body: new URLSearchParams({ email: name, password: given }),
    });
    await client.ask(401, "/users/sign_in", signIn(wrong));
    await client.ask(401, "/users/sign_in", signIn(password, "nobody@example.com"));
    const { headers } = await client.ask(303, "/users/sign_in", signIn(password));
    const cookie = headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    client.canaries.add("session", cookie.split("=", 2)[1] ?? "");
    const session = { ...fromOurPage, cookie };
    await client.ask(200, "/", { headers: session });

    const push = client.newPush("form");
    const form = { "content-type": "application/x-www-form-urlencoded", ...session };
    const typed = Object.values(push.labels).filter((label) => label !== push.labels.token);
    // The form is shown again with everything that was typed, only to the person who typed it.
    await client.ask(422, "/p", formRequest({ ...fieldsOf(push), expire_after_days: "0" }, form), typed);
    const made = await client.ask(303, "/p", formRequest(fieldsOf(push), form));
    const urlToken = /\/p\/([a-z0-9]+)\//.exec(made.headers.get("location") ?? "")?.[1] ?? "";
    client.canaries.add(push.labels.token, urlToken);
    await client.ask(200, `/p/${urlToken}/preview`, { headers: session }, [push.labels.token]);
    await client.ask(403, `/p/${urlToken}/expire`, {
      method: "POST",
      headers: { ...session, "sec-fetch-site": "cross-site", origin: "https://elsewhere.example" },
    });
    await client.ask(200, `/p/${urlToken}/expire`, { method: "POST", headers: session });

    const token = await client.ask(201, "/users/token", {
      method: "POST",
      headers: session,
      body: new URLSearchParams({ name: "made by page" }),
    });
    client.canaries.add("second API token", /sp_[\w-]{43}/.exec(token.text)?.[0] ?? "");
    await client.ask(200, "/users/token", { headers: session });
    await client.ask(303, "/users/sign_out", { method: "POST", headers: session });
    await client.ask(303, "/users/token", { headers: session });
    // The API ignores sessions.
    await client.ask(401, `${api}/active`, { headers: session });
    await finish(client);
  });
});

describe("no error response contains a secret", () => {
  it("for invalid pushes", async () => {
    const signed = await begin();
    const { client, bearer } = signed;
    const push = client.newPush("refused");
    const fields = fieldsOf(push);
    const json = (body: string, headers = {}): RequestInit => ({
      method: "POST",
      headers: { "content-type": "application/json", ...bearer, ...headers },
      body,
    });
    await client.ask(422, api, jsonRequest({ ...fields, expire_after_days: 0, expire_after_views: "many" }, bearer));
    await client.ask(422, api, jsonRequest({ ...fields, expire_after_views: push.note, kind: push.payload }, bearer));
    await client.ask(422, api, jsonRequest({ ...fields, kind: "url" }, bearer));
    await client.ask(
      422,
      api,
      jsonRequest({ ...fields, files: [{ filename: push.name, data: push.payload }] }, bearer),
    );
    await client.ask(422, api, jsonRequest({ ...fields, payload: { nested: push.payload } }, bearer));
    await client.ask(400, api, json(JSON.stringify([fields])));
    await client.ask(400, api, json(JSON.stringify({ push: push.payload })));
    await client.ask(400, api, json(`{"push": {"payload": ${push.payload}}}`));
    await client.ask(400, api, json(`{"push": {"payload": "${push.note}`));
    await client.ask(413, api, jsonRequest({ ...fields, payload: push.payload.repeat(150_000) }, bearer));
    await client.ask(415, api, json("x", { "content-type": `text/plain; about=${push.labels.payload}` }));
    await client.ask(415, api, json(JSON.stringify({ push: fields }), { "content-type": "application/xml" }));
    await client.ask(415, api, json(JSON.stringify({ push: fields }), { "content-encoding": "gzip" }));
    const { headers, body } = multipart(Object.entries(fields).map(([name, value]) => ({ name, value })));
    const cut = String(body).slice(0, -40);
    await client.ask(400, api, { method: "POST", headers: { ...Object(headers), ...bearer }, body: cut });
    await finish(client);
  });

  it("for invalid credentials, paths and methods", async () => {
    const signed = await begin();
    const { client, token, password } = signed;
    const { push, urlToken } = await createByJson(signed, "asked");
    const stray = client.canaries.makeCore("stray");
    const broken = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    client.canaries.add("wrong token", broken);
    const path = `${api}/${urlToken}`;
    await client.ask(401, api, jsonRequest(fieldsOf(push), { authorization: `Bearer ${broken}` }));
    await client.ask(401, path, { headers: { authorization: `Bearer ${broken}` } });
    await client.ask(401, path, { headers: { "x-user-email": email, "x-user-token": broken } });
    await client.ask(401, `${path}/audit`, { headers: { authorization: `Basic ${btoa(`${email}:${password}`)}` } });
    await client.ask(404, `${api}/${stray}`);
    await client.ask(404, `${api}/${stray}/${urlToken}`);
    await client.ask(404, `/api/v2/accounts/${stray}?token=${token}`);
    await client.ask(404, `/${stray}`, { headers: browser });
    await client.ask(404, `/p/${stray}`, { headers: browser });
    await client.ask(404, `/assets/${stray}.js`, { headers: browser });
    await client.ask(405, `${path}?passphrase=${stray}`, { method: "PUT", body: stray });
    await client.ask(400, `${path}?passphrase=${stray}&passphrase=${stray}`);
    await client.ask(400, `${api}/active?page=${stray}`, { headers: { authorization: `Bearer ${token}` } });
    await client.ask(404, `${api}/${"a".repeat(2_000)}${stray}`);
    await client.ask(400, `${api}/%zz${stray}`);

    for (const request of [
      `GET ${path}?passphrase=${stray} HTTP/9.9\r\n\r\n`,
      `${stray} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Push-Passphrase ${stray}\r\n\r\n`,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Push-Passphrase: ${stray.repeat(1_000)}\r\n\r\n`,
      `GET ${path} HTTP/1.1\r\nHost: ${stray} ${stray}\r\nConnection: close\r\n\r\n`,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nExpect: ${stray}\r\nConnection: close\r\n\r\n`,
      `POST ${api} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nContent-Length: 20\r\n\r\n${stray}`,
      `POST ${api} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz${stray}\r\n`,
    ]) {
      expect(await client.sendRaw(request)).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
    await finish(client);
  });
});
