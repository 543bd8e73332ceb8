import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Canaries } from "../support/canaries.ts";
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
} from "../support/canary-requests.ts";
import { withDatabaseOf } from "../support/database-of.ts";
import { changeRows } from "../support/engine-database.ts";
import { filesIn } from "../support/raw-files.ts";

describe("the search for canaries", () => {
  it("finds a secret in every encoding, whole or truncated", () => {
    const canaries = new Canaries();
    const core = canaries.makeCore("secret");
    const forms = [
      core,
      core.slice(0, 20),
      core.toUpperCase(),
      Buffer.from(`x${core}y`).toString("base64"),
      Buffer.from(`xy${core}`).toString("base64url"),
      Buffer.from(core).toString("hex"),
      encodeURIComponent(`{"a":"${core}"}`),
      JSON.stringify({ core }),
    ];
    for (const form of forms) expect(canaries.namesIn(Buffer.from(`before ${form} after`)), form).toEqual(["secret"]);
    expect(canaries.namesIn(Buffer.from(randomBytes(10_000).toString("base64")))).toEqual([]);
  });
});

describe("no secret is stored or sent where it does not belong", () => {
  it("when pushes are created in every encoding, listed, audited and deleted", async () => {
    const signed = await begin();
    const { client, token, bearer } = signed;
    const tokens: string[] = [(await createByJson(signed, "json")).urlToken];
    const pair = { "x-user-email": email, "x-user-token": token };
    const encodings: Readonly<Record<string, (fields: Record<string, string>) => RequestInit>> = {
      urlencoded: (fields) => formRequest(fields, { "content-type": "application/x-www-form-urlencoded", ...pair }),
      untyped: (fields) => formRequest(fields, pair),
      multipart: (fields) => {
        const parts = Object.entries(fields).map(([name, value]) => ({ name: `push[${name}]`, value }));
        const { headers, ...request } = multipart(parts);
        return { ...request, headers: { ...Object(headers), ...pair } };
      },
    };
    for (const [of, request] of Object.entries(encodings)) {
      const push = client.newPush(of);
      const { passphrase, name, note } = push.labels;
      const { text } = await client.ask(201, api, request(fieldsOf(push)), [passphrase, name, note]);
      tokens.push(addTokenCanary(client, text, push));
    }
    const all = ["json", ...Object.keys(encodings)];
    const owners = all.flatMap((of) => [`${of} name`, `${of} note`, `${of} token`]);
    await client.ask(200, `${api}/active`, { headers: bearer }, owners);
    for (const [at, of] of all.entries()) {
      const path = `${api}/${tokens[at]}`;
      await client.ask(200, `${path}/preview`, {}, [`${of} token`]);
      await client.ask(200, `/p/${tokens[at]}/preview`, { headers: browser }, [`${of} token`]);
      await client.ask(200, `${path}/audit`, { headers: bearer });
      await client.ask(200, path, { method: "DELETE", headers: bearer }, [`${of} token`]);
      await client.ask(404, `/p/${tokens[at]}/r`, { headers: browser });
    }
    await client.ask(200, `${api}/expired`, { headers: bearer }, owners);
    await finish(client);
  });

  it("when pushes are retrieved with correct, wrong and missing passphrases through every endpoint", async () => {
    const signed = await begin();
    const { client, bearer } = signed;
    const { push, urlToken } = await createByJson(signed, "opened", { expire_after_views: 4 });
    const { payload, token } = push.labels;
    const wrong = client.canaries.make("wrong passphrase");
    const query = (value: string) => `?passphrase=${encodeURIComponent(value)}`;
    const form = (passphrase: string) => ({
      method: "POST",
      headers: browser,
      body: new URLSearchParams({ passphrase }),
    });
    const path = `${api}/${urlToken}`;
    // Links of this server and of another one in a referrer: the audit trail must not store them.
    const referrers = [`${client.server.baseUrl}/p/${urlToken}/r`, `https://elsewhere.example/p/${urlToken}`];

    await client.ask(401, path, { headers: { referer: referrers[0] ?? "" } });
    await client.ask(401, `${path}${query(wrong)}`, { headers: { referer: referrers[1] ?? "" } });
    await client.ask(401, path, { headers: { "x-push-passphrase": wrong } });
    await client.ask(401, `/p/${urlToken}.json${query(wrong)}`);
    await client.ask(200, `/p/${urlToken}${query(wrong)}`, { headers: browser }, [token]);
    await client.ask(401, `/p/${urlToken}/r`, form(""), [token]);
    await client.ask(401, `/p/${urlToken}/r`, form(wrong), [token]);
    await client.ask(200, `/p/${urlToken}/r`, { headers: { "user-agent": "Slackbot-LinkExpanding 1.0" } });
    await client.ask(200, path, { method: "HEAD" });
    await client.ask(503, `${path}${query(push.passphrase)}`, { headers: { "sec-purpose": "prefetch" } });
    await client.ask(503, `/p/${urlToken}`, { headers: { ...browser, purpose: "prefetch" } });

    const repeatable = {
      headers: { "x-push-passphrase": push.passphrase, "idempotency-key": client.canaries.makeCore("idempotency key") },
    };
    await client.ask(200, path, repeatable, [payload, token]);
    await client.ask(200, path, repeatable, [payload, token]);
    const refused = { "idempotency-key": `${client.canaries.makeCore("refused idempotency key")} `.repeat(9) };
    await client.ask(400, path, { headers: refused });
    await client.ask(200, `${path}.json`, { headers: { "x-push-passphrase": push.passphrase } }, [payload, token]);
    await client.ask(200, `/p/${urlToken}.json${query(push.passphrase)}`, {}, [payload, token]);
    // After the last view, the page has no link to the push.
    await client.ask(200, `/p/${urlToken}`, form(push.passphrase), [payload]);
    await client.ask(200, `${path}${query(push.passphrase)}`, {}, [token]);
    await client.ask(404, `/p/${urlToken}/r`, form(push.passphrase));
    await client.ask(200, `${path}/audit`, { headers: bearer });
    await finish(client);
  });

  it("when too many passphrases are guessed", async () => {
    const signed = await begin();
    const { client } = signed;
    const { push, urlToken } = await createByJson(signed, "guessed");
    for (const status of [401, 401, 401, 401, 401, 429]) {
      const guess = client.canaries.make("guess");
      await client.ask(status, `${api}/${urlToken}`, { headers: { "x-push-passphrase": guess } });
    }
    const body = new URLSearchParams({ passphrase: push.passphrase });
    const page = { method: "POST", headers: browser, body };
    await client.ask(429, `/p/${urlToken}/r`, page, [push.labels.token]);
    await finish(client);
  });

  it("when url and qr pushes are opened", async () => {
    const signed = await begin();
    const { client } = signed;
    const address = `https://example.com/${client.canaries.makeCore("address")}?a=1`;
    const plain = { passphrase: "", retrieval_step: false, expire_after_views: 2 };
    const { urlToken } = await createByJson(signed, "url", { ...plain, kind: "url", payload: address });
    const { headers } = await client.ask(303, `/p/${urlToken}`, { headers: browser }, ["address"]);
    expect(headers.get("location")).toBe(address);
    await client.ask(200, `/p/${urlToken}`, { method: "POST", headers: browser }, ["address"]);
    await client.ask(404, `/p/${urlToken}`, { headers: browser });
    const qr = await createByJson(signed, "qr", { ...plain, kind: "qr" });
    const { payload, token } = qr.push.labels;
    await client.ask(200, `${api}/${qr.urlToken}`, {}, [payload, token]);
    await client.ask(200, `/p/${qr.urlToken}`, { headers: browser }, [payload]);
    await finish(client);
  });
});

/** Overwrites a column in all rows in which it is not NULL. */
async function corrupt(client: CanaryClient, table: string, column: string): Promise<void> {
  const statement = `UPDATE ${table} SET ${column} = ? WHERE ${column} IS NOT NULL`;
  const changed = await withDatabaseOf(client.dataDir, (db) => changeRows(db, statement, Buffer.alloc(98)));
  expect(changed).toBeGreaterThan(0);
}

describe("no failure reveals a secret", () => {
  it("when stored data was modified: the unexpected error has an id and no details", async () => {
    const signed = await begin();
    const { client, bearer } = signed;
    const { push, urlToken } = await createByJson(signed, "broken");
    const path = `${api}/${urlToken}`;
    const header = { "x-push-passphrase": push.passphrase };
    await corrupt(client, "payloads", "sealed");
    await client.ask(500, path, { headers: header });
    const body = new URLSearchParams({ passphrase: push.passphrase });
    await client.ask(500, `/p/${urlToken}/r`, { method: "POST", headers: browser, body });
    await corrupt(client, "row_secrets", "sealed");
    await client.ask(500, path, { headers: header });
    await corrupt(client, "pushes", "note_sealed");
    await client.ask(500, `${api}/active`, { headers: bearer });
    await corrupt(client, "pushes", "token_sealed");
    expect((await client.ask(200, `${api}/active`, { headers: bearer })).text).toBe("[]");
    const loggedTimes = (event: string) =>
      client.server.logLines.filter((line) => line.includes(`"event":"${event}"`)).length;
    expect([loggedTimes("unexpected_error"), loggedTimes("forged_row_refused")]).toEqual([4, 1]);
    await finish(client);
  });

  it("when a stored file was modified: the download is refused", async () => {
    const { client, bearer } = await begin();
    const content = `${client.canaries.makeCore("content")}\n`.repeat(10);
    const { headers, ...request } = multipart([{ name: "push[files][]", value: content, filename: "a.txt" }]);
    const made = await client.ask(201, api, { ...request, headers: { ...Object(headers), ...bearer } });
    const push = client.newPush("file");
    const urlToken = addTokenCanary(client, made.text, push);
    const opened = await client.ask(200, `${api}/${urlToken}`, {}, [push.labels.token]);
    const ticket = /\/files\/([\w-]+)"/.exec(opened.text)?.[1] ?? "";
    client.canaries.add("ticket", ticket);
    const [path = ""] = [...filesIn(client.dataDir).keys()].filter((name) => name.startsWith("blobs/"));
    writeFileSync(join(client.dataDir, path), randomBytes(filesIn(client.dataDir).get(path)?.length ?? 0));
    await client.ask(503, `/files/${ticket}`);
    await finish(client);
  });
});
