import { SealpushClient } from "@sealpush/client";
import { expect, test } from "vitest";
import { sendJson, startStandIn } from "../../support/stand-in.ts";

/** The answers are those of the wire contract for servers of the field: without the keys and headers that only Sealpush has. */

const push = {
  expire_after_views: 5,
  expired: false,
  url_token: "bXlfdG9rZW4tMQ",
  deletable_by_viewer: true,
  retrieval_step: false,
  expired_on: null,
  passphrase: "",
  created_at: "2026-11-21T03:00:44.763Z",
  updated_at: "2026-11-21T03:00:44.763Z",
  expire_after_days: 7,
  days_remaining: 7,
  views_remaining: 5,
  deleted: false,
  json_url: "http://push.example.com/p/bXlfdG9rZW4tMQ.json",
  html_url: "http://push.example.com/p/bXlfdG9rZW4tMQ",
};
const wrongPassphrase = { error: "That passphrase is incorrect.", message: "Unauthorized", status: "unauthorized" };

test("a server that reads the passphrase from the address only gets it there, after it has ignored the header", async () => {
  const server = await startStandIn((request, _incoming, response) => {
    if (request === "GET /api/v2/version")
      return sendJson(response, 200, { application_version: "2.11.4", api_version: "2.1" });
    const isRight = request.endsWith("?passphrase=p%C3%A4ss+word");
    return sendJson(response, isRight ? 200 : 401, isRight ? { ...push, payload: "correct horse" } : wrongPassphrase);
  });
  const client = new SealpushClient({ server: server.origin });
  const opened = await client.retrieve(push.url_token, { passphrase: "päss word" });
  expect(opened).toMatchObject({ payload: "correct horse", files: [] });
  await expect(client.retrieve(push.url_token, { passphrase: "wrong" })).rejects.toMatchObject({
    code: "wrong_passphrase",
  });
});

test("a server without API v2 is used through v1", async () => {
  const bodies: unknown[] = [];
  const server = await startStandIn((request, _incoming, response, body) => {
    if (body !== "") bodies.push(JSON.parse(body));
    switch (request) {
      case "POST /p.json":
        return sendJson(response, 201, { ...push, html_url: undefined });
      case `GET /p/${push.url_token}.json`:
        return sendJson(response, 200, { ...push, payload: "correct horse" });
      case `GET /p/${push.url_token}/audit.json?page=1`:
        return sendJson(response, 200, { views: [{ ip: "192.0.2.1", kind: "view" }] });
      case "GET /p/expired.json?page=2":
        return sendJson(response, 200, [push]);
      case "GET /api/v1/version.json":
        return sendJson(response, 200, { application_version: "1.40.0", api_version: "1.0", edition: "oss" });
      default:
        response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not found</h1>");
    }
  });
  const client = new SealpushClient({ server: server.origin, token: "token" });
  expect(await client.create({ payload: "correct horse", expire_after_days: 3 })).toMatchObject({
    html_url: `${server.origin}/p/${push.url_token}`,
  });
  expect(bodies).toEqual([{ password: { payload: "correct horse", expire_after_days: 3 } }]);
  expect(await client.retrieve(push.url_token)).toMatchObject({ payload: "correct horse", files: [] });
  expect(await client.audit(push.url_token)).toEqual([{ ip: "192.0.2.1", kind: "view" }]);
  expect(await client.list("expired", { page: 2 })).toEqual([push]);
  expect(await client.version()).toMatchObject({ application_version: "1.40.0" });
  await expect(client.preview(push.url_token)).rejects.toMatchObject({ code: "not_found" });
  expect(server.requests.filter((request) => request === "GET /api/v2/version")).toHaveLength(1);
});

test("another program at the address is recognized", async () => {
  const server = await startStandIn((_request, _incoming, response) => response.end("<h1>It works!</h1>"));
  const client = new SealpushClient({ server: server.origin });
  await expect(client.create({ payload: "x" })).rejects.toMatchObject({
    code: "not_this_api",
    message: "The answer is not one of Sealpush or Password Pusher. Check the server's address.",
  });
});
