import { ClientError, type ClientOptions, SealpushClient } from "@sealpush/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { freePort } from "../../support/free-port.ts";
import { startStandIn } from "../../support/stand-in.ts";

async function startServer(environment: Readonly<Record<string, string>> = {}) {
  const app = await startTestApp({ environment });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const server = await app.listen();
  const token = await app.makeToken("ada@example.com");
  const connect = (options: Partial<ClientOptions> = {}) => new SealpushClient({ server, ...options });
  return { app, server, token, connect, owner: (api?: "v1" | "v2") => connect({ token, api }) };
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

async function refusalOf(call: Promise<unknown>): Promise<ClientError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ClientError)) throw new Error(`Not a ClientError: ${error}`);
  return error;
}

/** The real server logs its requests; nothing of these may be in them. */
function expectUnlogged({ logLines }: TestApp, ...secrets: readonly string[]): void {
  const log = logLines.join("\n");
  for (const secret of secrets) expect(log).not.toContain(secret);
}

test("an own push is changed, with files and without", async () => {
  const { app, owner, connect } = await startServer();
  const client = owner();
  const made = await client.create({ payload: "old", passphrase: "one", expire_after_views: 9 });
  expect((await refusalOf(client.edit(made.html_url, { payload: "new" }))).code).toBe("wrong_passphrase");
  const changes = { fields: [{ label: "User", value: "ada" }], current_passphrase: "one", expire_after_views: 5 };
  expect(await client.edit(made.html_url, changes)).toMatchObject({ html_url: made.html_url, expire_after_views: 5 });
  const files = [{ filename: "a.txt", content: new Blob(["in a"]) }];
  await client.edit(made.url_token, { files, name: "for Ada", remove_passphrase: true, current_passphrase: "one" });
  const opened = await connect().retrieve(made.html_url);
  expect(opened).toMatchObject({ fields: [{ label: "User", value: "ada" }], files: [{ filename: "a.txt" }] });
  await client.edit(made.url_token, { remove_files: [{ filename: "a.txt" }] });
  expect(await connect().retrieve(made.html_url)).toMatchObject({
    payload: "User: ada",
    files: [],
    views_remaining: 3,
  });
  expect((await refusalOf(connect().edit(made.html_url, { payload: "x" }))).code).toBe("unauthorized");
  await client.end(made.url_token);
  expect((await refusalOf(client.edit(made.html_url, { payload: "x" }))).code).toBe("not_found");
  expectUnlogged(app, "for Ada", made.url_token);
});

describe.each(["v2", "v1"] as const)("API %s", (api) => {
  test("a push is created, listed, previewed, retrieved, audited and ended", async () => {
    const { owner, connect, server } = await startServer();
    const client = owner(api);
    const made = await client.create({ payload: "correct horse", expire_after_views: 2, name: "for Ada" });
    expect(made).toMatchObject({ expire_after_views: 2, name: "for Ada", html_url: `${server}/p/${made.url_token}/r` });
    expect(await client.list("active")).toEqual([expect.objectContaining({ url_token: made.url_token })]);
    expect(await client.preview(made.url_token)).toEqual({ url: made.html_url });
    const stranger = connect({ api });
    const opened = await stranger.retrieve(made.html_url);
    expect(opened).toMatchObject({ payload: "correct horse", files: [], views_remaining: 1 });
    expect((await client.audit(made.html_url)).map(({ kind }) => kind)).toEqual(["creation", "view"]);
    expect(await client.end(made.url_token)).toMatchObject({ expired: true, deleted: true });
    expect(await client.list("expired")).toHaveLength(1);
    expect(await stranger.retrieve(made.url_token)).toMatchObject({ expired: true, payload: null, files: [] });
  });

  test("files are sent and received by streams, with progress", async () => {
    const { owner } = await startServer();
    const client = owner(api);
    const chunk = Buffer.alloc(64 * 1024, "x");
    async function* content() {
      for (let count = 0; count < 40; count += 1) yield chunk;
    }
    const sent: number[] = [];
    const made = await client.create(
      {
        payload: "see the file",
        files: [
          { filename: 'a "b".txt', content },
          { filename: "c.bin", content_type: "image/png", content: new Blob(["pixels"]) },
        ],
      },
      { onProgress: (sentBytes) => sent.push(sentBytes) },
    );
    expect(sent.at(-1)).toBe(40 * chunk.length + 6);
    const { files, payload } = await client.retrieve(made.url_token);
    expect(payload).toBe("see the file");
    expect(files.map(({ filename, content_type }) => [filename, content_type])).toEqual([
      ['a "b".txt', "text/plain"],
      ["c.bin", "image/png"],
    ]);
    const received = await Promise.all(files.map((file) => bytesOf(client.download(file))));
    expect(received.map(({ length }) => length)).toEqual([40 * chunk.length, 6]);
    expect(received[1]?.toString()).toBe("pixels");
  });

  test("a passphrase of any characters reaches the server outside of addresses", async () => {
    const { app, owner, connect } = await startServer();
    const passphrase = "Pässwört 🔑";
    const made = await owner(api).create({ payload: "correct horse", passphrase });
    const stranger = connect({ api });
    expect(await refusalOf(stranger.retrieve(made.url_token))).toMatchObject({ code: "wrong_passphrase", status: 401 });
    expect(await refusalOf(stranger.retrieve(made.url_token, { passphrase: "guess" }))).toMatchObject({
      code: "wrong_passphrase",
      message: "That passphrase is wrong.",
    });
    expect(await stranger.retrieve(made.url_token, { passphrase })).toMatchObject({ payload: "correct horse" });
    // The one wrong passphrase was tried once, although Password Pusher needs a second request.
    const trail = await owner(api).audit(made.url_token);
    expect(trail.filter(({ kind }) => kind === "failed_passphrase")).toHaveLength(2);
    expectUnlogged(app, passphrase, "guess", "correct horse");
  });

  test("a url push and a QR code keep their kind", async () => {
    const { owner } = await startServer();
    for (const [kind, payload] of [
      ["url", "https://example.com/a"],
      ["qr", "WIFI:;"],
    ] as const) {
      const { url_token } = await owner("v2").create({ kind, payload });
      expect(await owner(api).retrieve(url_token)).toMatchObject({ payload });
      const made = await owner(api).create({ kind, payload });
      expect(await owner("v2").retrieve(made.url_token)).toMatchObject({ kind, payload });
    }
  });
});

test("without a version of the API, the client finds it out, also on a public gateway, which has no version", async () => {
  const { connect, token } = await startServer();
  expect(await connect().version()).toMatchObject({ application_version: "0.0.0-test", api_version: "2.1" });
  const { url_token } = await connect().create({ payload: "correct horse" });
  expect(await connect().retrieve(url_token)).toMatchObject({ kind: "text", payload: "correct horse" });
  expect(await connect({ token }).tokenState()).toBe("valid");
  expect(await connect({ token: "sp_wrong" }).tokenState()).toBe("refused");
  expect(await connect().tokenState()).toBe("none");

  const gateway = await startServer({ PWP_PUBLIC_GATEWAY: "true" });
  expect(await refusalOf(gateway.connect().retrieve("unknown"))).toMatchObject({ code: "not_found", status: 404 });
});

test("the language that was chosen is the one of the links", async () => {
  const { connect, token } = await startServer();
  const made = await connect({ language: "de" }).create({ payload: "geheim" });
  expect(made.html_url).toMatch(/\/r\?locale=de$/);
  expect(await connect().retrieve(made.html_url)).toMatchObject({ payload: "geheim" });
  const owner = connect({ language: "de", token });
  await owner.create({ payload: "geheim" });
  expect((await owner.list("active")).map(({ html_url }) => html_url)).toEqual([expect.stringMatching(/\?locale=de$/)]);
});

describe("errors", () => {
  test("name the fields that are wrong and contain no secret", async () => {
    const { connect, token } = await startServer();
    const secrets = { payload: "the-payload", passphrase: "the-passphrase", name: "the-name" };
    const wrong = await refusalOf(connect().create({ ...secrets, expire_after_views: 1_000 }));
    expect(wrong).toMatchObject({ code: "invalid", status: 422, fields: { expire_after_views: [expect.any(String)] } });
    expect(wrong.message).toContain("expire_after_views");
    const refused = await refusalOf(connect({ token: "sp_not-a-token" }).create(secrets));
    expect(refused).toMatchObject({ code: "unauthorized" });
    const { url_token } = await connect().create({ ...secrets, deletable_by_viewer: false });
    const others = [
      wrong,
      refused,
      await refusalOf(connect({ token }).audit(url_token)),
      await refusalOf(connect().end(url_token)),
      await refusalOf(connect().retrieve(url_token, { passphrase: "another-passphrase" })),
      await refusalOf(connect().retrieve(url_token, { passphrase: "two\nlines" })),
      await refusalOf(connect().retrieve(url_token, { passphrase: " two" })),
      await refusalOf(connect().retrieve(url_token, { passphrase: "two " })),
      await refusalOf(connect().retrieve(`https://other.example.com/p/${url_token}`)),
    ];
    expect(others.map(({ code }) => code)).toEqual([
      "invalid",
      "unauthorized",
      "forbidden",
      "unauthorized",
      "wrong_passphrase",
      "invalid",
      "invalid",
      "invalid",
      "invalid",
    ]);
    const said = others.map((error) => `${error.stack} ${JSON.stringify(error)} ${JSON.stringify(error.cause)}`).join();
    for (const secret of [...Object.values(secrets), url_token, token, "sp_not", "another", "two"]) {
      expect(said).not.toContain(secret);
    }
  });

  test.each([
    "push.example.com",
    "ftp://push.example.com",
    "https://ada:secret@push.example.com",
    "https://push.example.com?a",
    "https://push.example.com#a",
    "",
  ])("an invalid address of the server is refused: %j", (server) => {
    expect(() => new SealpushClient({ server })).toThrow("must have the form https://push.example.com.");
  });

  test("a token that cannot be a header is refused without repeating it", () => {
    const connect = () => new SealpushClient({ server: "http://127.0.0.1:1", token: "sp_a\nb" });
    expect(connect).toThrow("The API token has characters that no token has.");
  });

  test("a server that does not answer is named with the reason", async () => {
    const server = `http://127.0.0.1:${await freePort()}`;
    const client = new SealpushClient({ server, attemptsMax: 1 });
    const error = await refusalOf(client.create({ payload: "the-payload" }));
    expect(error).toMatchObject({ code: "unreachable", message: `${server} cannot be reached (ECONNREFUSED).` });
  });

  test("an answer that does not end is refused", async () => {
    const server = await startStandIn((_request, _incoming, response) => {
      const part = Buffer.alloc(1024 * 1024, " ");
      const writeOn = () => {
        while (response.write(part)) if (response.destroyed) return;
        response.once("drain", writeOn);
      };
      writeOn();
    });
    const client = new SealpushClient({ server: server.origin, attemptsMax: 1 });
    expect(await refusalOf(client.version())).toMatchObject({
      code: "not_this_api",
      message: "The server's answer is too large.",
    });
  });

  test("a gateway whose server fails is not taken for one with the older API, which would spend the view", async () => {
    const server = await startStandIn((request, _incoming, response) => {
      response.writeHead(request.endsWith("/version") ? 404 : 502).end();
    });
    const client = new SealpushClient({ server: server.origin, attemptsMax: 1 });
    expect(await refusalOf(client.retrieve("abcdefgh"))).toMatchObject({
      status: 502,
      message: "The server answered 502. The server is away, or did not answer its proxy in time.",
    });
    expect(server.requests).toEqual(["GET /api/v2/version", "GET /api/v2/pushes/abcdefgh/preview"]);
  });

  test("the reader of a file that fails is reported as such", async () => {
    const { owner } = await startServer();
    async function* content() {
      yield Buffer.from("half");
      throw new Error("The disk is broken.");
    }
    const created = owner("v2").create({ files: [{ filename: "a", content }] });
    await expect(created).rejects.toThrow("The disk is broken.");
  });
});
