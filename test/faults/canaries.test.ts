import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Canaries } from "../support/canaries.ts";
import {
  api,
  begin,
  browser,
  createByJson,
  email,
  fieldsOf,
  finish,
  formRequest,
  learnToken,
} from "../support/canary-requests.ts";
import { type CanaryWalk, multipart } from "../support/canary-walk.ts";
import { filesIn } from "../support/database-file.ts";
import { withDatabaseOf } from "../support/database-of.ts";
import { changeRows } from "../support/engine-database.ts";

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
    const { walk, token, bearer } = signed;
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
      const push = walk.newPush(of);
      const { passphrase, name, note } = push.labels;
      const { text } = await walk.ask(201, api, request(fieldsOf(push)), [passphrase, name, note]);
      tokens.push(learnToken(walk, text, push));
    }
    const all = ["json", ...Object.keys(encodings)];
    const owners = all.flatMap((of) => [`${of} name`, `${of} note`, `${of} token`]);
    await walk.ask(200, `${api}/active`, { headers: bearer }, owners);
    for (const [at, of] of all.entries()) {
      const path = `${api}/${tokens[at]}`;
      await walk.ask(200, `${path}/preview`, {}, [`${of} token`]);
      await walk.ask(200, `/p/${tokens[at]}/preview`, { headers: browser }, [`${of} token`]);
      await walk.ask(200, `${path}/audit`, { headers: bearer });
      await walk.ask(200, path, { method: "DELETE", headers: bearer }, [`${of} token`]);
      await walk.ask(404, `/p/${tokens[at]}/r`, { headers: browser });
    }
    await walk.ask(200, `${api}/expired`, { headers: bearer }, owners);
    await finish(walk);
  });

  it("when pushes are retrieved with correct, wrong and missing passphrases through every endpoint", async () => {
    const signed = await begin();
    const { walk, bearer } = signed;
    const { push, urlToken } = await createByJson(signed, "opened", { expire_after_views: 4 });
    const { payload, token } = push.labels;
    const wrong = walk.canaries.make("wrong passphrase");
    const query = (value: string) => `?passphrase=${encodeURIComponent(value)}`;
    const form = (passphrase: string) => ({
      method: "POST",
      headers: browser,
      body: new URLSearchParams({ passphrase }),
    });
    const path = `${api}/${urlToken}`;
    // Their own links, and another server's, in a referrer: the audit trail must not become a list of links.
    const referrers = [`${walk.server.baseUrl}/p/${urlToken}/r`, `https://elsewhere.example/p/${urlToken}`];

    await walk.ask(401, path, { headers: { referer: referrers[0] ?? "" } });
    await walk.ask(401, `${path}${query(wrong)}`, { headers: { referer: referrers[1] ?? "" } });
    await walk.ask(401, path, { headers: { "x-push-passphrase": wrong } });
    await walk.ask(401, `/p/${urlToken}.json${query(wrong)}`);
    await walk.ask(200, `/p/${urlToken}${query(wrong)}`, { headers: browser }, [token]);
    await walk.ask(401, `/p/${urlToken}/r`, form(""), [token]);
    await walk.ask(401, `/p/${urlToken}/r`, form(wrong), [token]);
    await walk.ask(200, `/p/${urlToken}/r`, { headers: { "user-agent": "Slackbot-LinkExpanding 1.0" } });
    await walk.ask(200, path, { method: "HEAD" });
    await walk.ask(503, `${path}${query(push.passphrase)}`, { headers: { "sec-purpose": "prefetch" } });
    await walk.ask(503, `/p/${urlToken}`, { headers: { ...browser, purpose: "prefetch" } });

    await walk.ask(200, `${path}${query(push.passphrase)}`, {}, [payload, token]);
    await walk.ask(200, `${path}.json`, { headers: { "x-push-passphrase": push.passphrase } }, [payload, token]);
    await walk.ask(200, `/p/${urlToken}.json${query(push.passphrase)}`, {}, [payload, token]);
    // After the last view no link is offered.
    await walk.ask(200, `/p/${urlToken}`, form(push.passphrase), [payload]);
    await walk.ask(200, `${path}${query(push.passphrase)}`, {}, [token]);
    await walk.ask(404, `/p/${urlToken}/r`, form(push.passphrase));
    await walk.ask(200, `${path}/audit`, { headers: bearer });
    await finish(walk);
  });

  it("when too many passphrases are guessed", async () => {
    const signed = await begin();
    const { walk } = signed;
    const { push, urlToken } = await createByJson(signed, "guessed");
    for (const status of [401, 401, 401, 401, 401, 429]) {
      const guess = walk.canaries.make("guess");
      await walk.ask(status, `${api}/${urlToken}`, { headers: { "x-push-passphrase": guess } });
    }
    const body = new URLSearchParams({ passphrase: push.passphrase });
    const page = { method: "POST", headers: browser, body };
    await walk.ask(429, `/p/${urlToken}/r`, page, [push.labels.token]);
    await finish(walk);
  });

  it("when url and qr pushes are opened", async () => {
    const signed = await begin();
    const { walk } = signed;
    const address = `https://example.com/${walk.canaries.makeCore("address")}?a=1`;
    const plain = { passphrase: "", retrieval_step: false, expire_after_views: 2 };
    const { urlToken } = await createByJson(signed, "url", { ...plain, kind: "url", payload: address });
    const { headers } = await walk.ask(303, `/p/${urlToken}`, { headers: browser }, ["address"]);
    expect(headers.get("location")).toBe(address);
    await walk.ask(200, `/p/${urlToken}`, { method: "POST", headers: browser }, ["address"]);
    await walk.ask(404, `/p/${urlToken}`, { headers: browser });
    const qr = await createByJson(signed, "qr", { ...plain, kind: "qr" });
    const { payload, token } = qr.push.labels;
    await walk.ask(200, `${api}/${qr.urlToken}`, {}, [payload, token]);
    await walk.ask(200, `/p/${qr.urlToken}`, { headers: browser }, [payload]);
    await finish(walk);
  });
});

/** Overwrites a column of all rows that have something there. */
async function corrupt(walk: CanaryWalk, table: string, column: string): Promise<void> {
  const statement = `UPDATE ${table} SET ${column} = ? WHERE ${column} IS NOT NULL`;
  const changed = await withDatabaseOf(walk.dataDir, (db) => changeRows(db, statement, Buffer.alloc(98)));
  expect(changed).toBeGreaterThan(0);
}

describe("no failure reveals a secret", () => {
  it("when stored data was modified: the unexpected error has an id and no details", async () => {
    const signed = await begin();
    const { walk, bearer } = signed;
    const { push, urlToken } = await createByJson(signed, "broken");
    const path = `${api}/${urlToken}`;
    const header = { "x-push-passphrase": push.passphrase };
    await corrupt(walk, "payloads", "sealed");
    await walk.ask(500, path, { headers: header });
    const body = new URLSearchParams({ passphrase: push.passphrase });
    await walk.ask(500, `/p/${urlToken}/r`, { method: "POST", headers: browser, body });
    await corrupt(walk, "data_keys", "sealed");
    await walk.ask(500, path, { headers: header });
    await corrupt(walk, "pushes", "note_sealed");
    await walk.ask(500, `${api}/active`, { headers: bearer });
    await corrupt(walk, "pushes", "token_sealed");
    await walk.ask(500, `${api}/active`, { headers: bearer });
    expect(walk.server.logLines.filter((line) => line.includes('"event":"unexpected_error"')).length).toBe(5);
    await finish(walk);
  });

  it("when a stored file was modified: the download is refused", async () => {
    const { walk, bearer } = await begin();
    const content = `${walk.canaries.makeCore("content")}\n`.repeat(10);
    const { headers, ...request } = multipart([{ name: "push[files][]", value: content, filename: "a.txt" }]);
    const made = await walk.ask(201, api, { ...request, headers: { ...Object(headers), ...bearer } });
    const push = walk.newPush("file");
    const urlToken = learnToken(walk, made.text, push);
    const opened = await walk.ask(200, `${api}/${urlToken}`, {}, [push.labels.token]);
    const ticket = /\/files\/([\w-]+)"/.exec(opened.text)?.[1] ?? "";
    walk.canaries.add("ticket", ticket);
    const [path = ""] = [...filesIn(walk.dataDir).keys()].filter((name) => name.startsWith("blobs/"));
    writeFileSync(join(walk.dataDir, path), randomBytes(filesIn(walk.dataDir).get(path)?.length ?? 0));
    await walk.ask(503, `/files/${ticket}`);
    await finish(walk);
  });
});
