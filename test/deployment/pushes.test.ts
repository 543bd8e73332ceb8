import { makeLinkKey } from "@sealpush/age/link-key";
import { openFile, openText } from "@sealpush/age/open";
import { sealFile, sealText } from "@sealpush/age/seal";
import { beforeAll, describe, expect, test } from "vitest";
import { bearer } from "../support/app.ts";
import { openDeployment } from "../support/deployment.ts";
import type { Owner } from "../support/owner.ts";
import { pushForm } from "../support/owner-requests.ts";

const deployment = openDeployment();
let owner: Owner;
beforeAll(async () => {
  owner = await deployment.makeUser("ada@example.com");
});

const nobody = { cookie: "" };

async function create(push: object, headers: Readonly<Record<string, string>> = {}) {
  const made = await deployment.api("/api/v2/pushes", { body: { push }, headers });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return { urlToken: String(made.body.url_token), process: made.process };
}

async function open(urlToken: string) {
  const opened = await deployment.api(`/api/v2/pushes/${urlToken}`);
  expect(opened.status, JSON.stringify(opened.body)).toBe(200);
  return opened;
}

/** The content of the files of a retrieval, each by a request of its own. */
async function download(files: readonly { url: string }[]): Promise<readonly string[]> {
  const contents: string[] = [];
  for (const { url } of files) {
    const answer = await deployment.fetch(deployment.pathOf(url));
    expect(answer.status).toBe(200);
    contents.push(await answer.text());
  }
  return contents;
}

const urlTokenIn = (answer: Response) => /\/p\/([^/?]+)/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";

test("both processes encrypt what they send to the database, which counts as another host", async () => {
  const rows = await deployment.query(
    `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  expect(rows).toEqual([{ ssl: true }]);
});

describe("a push that one process created", () => {
  describe.each([
    { kind: "text", payload: "a secret" },
    { kind: "url", payload: "https://example.com/secret" },
    { kind: "qr", payload: "WIFI:S:guests;;" },
    { kind: "text", payload: "with a passphrase", passphrase: "correct horse" },
  ])("by the API, $kind: $payload,", (push) => {
    deployment.test("is opened by the other one as often as allowed", async () => {
      const made = await create({ ...push, expire_after_views: 2 });
      const headers = { "x-push-passphrase": push.passphrase ?? "" };
      for (const left of [1, 0]) {
        const opened = await deployment.api(`/api/v2/pushes/${made.urlToken}`, { headers });
        expect(opened).toMatchObject({ status: 200, body: { payload: push.payload, views_remaining: left } });
        if (left === 1) expect(opened.process).not.toBe(made.process);
      }
      const late = await deployment.api(`/api/v2/pushes/${made.urlToken}`, { headers });
      expect(late).toMatchObject({ status: 200, body: { payload: null, expired: true } });
    });
  });

  deployment.test("by a form is opened by its retrieval step, each page by another process", async () => {
    const form = pushForm({ kind: "text", payload: "typed into a form", expire_after_views: "1" });
    const made = await deployment.visit("/p", owner, form);
    expect(made.status).toBe(303);
    const created = await deployment.visit(made.headers.get("location") ?? "", owner);
    expect(created.status).toBe(200);
    const link = `/p/${urlTokenIn(made)}/r`;
    const step = await deployment.visit(link, nobody);
    expect(await step.text()).not.toContain("typed into a form");
    expect(await (await deployment.visit(link, nobody, {})).text()).toContain("typed into a form");
    expect((await deployment.visit(link, nobody, {})).status).toBe(404);
  });

  deployment.test("with files has them by downloads from both", async () => {
    const form = pushForm(
      { kind: "file", payload: "and a note" },
      { "one.txt": "first file", "two.txt": "second file" },
    );
    const made = await deployment.visit("/p", owner, form);
    expect(made.status).toBe(303);
    const { body } = await open(urlTokenIn(made));
    expect(body).toMatchObject({ payload: "and a note", files: [{ filename: "one.txt" }, { filename: "two.txt" }] });
    expect(await download(body.files)).toEqual(["first file", "second file"]);
    // The same addresses again, now from the other process each.
    deployment.continueWith(0);
    expect(await download([...body.files, ...body.files])).toHaveLength(4);
  });

  deployment.test("with files of an API is opened with them", async () => {
    const sent = await deployment.fetch("/api/v2/pushes", {
      method: "POST",
      headers: bearer(owner.apiToken),
      body: pushForm({ payload: "x" }, { "b.txt": "bb", "a.txt": "aa" }),
    });
    const { url_token: urlToken } = await sent.json();
    expect(await download((await open(urlToken)).body.files)).toEqual(["bb", "aa"]);
  });

  deployment.test("sealed in a client opens with the key of its link", async () => {
    const key = await makeLinkKey();
    const payload = await sealText("the secret", key.recipient, "");
    const sealed = await sealFile(new Blob(["file content"]).stream(), key.recipient);
    const data = Buffer.from(await new Response(sealed).arrayBuffer()).toString("base64");
    const push = { kind: "file", payload, files: [{ filename: "1.age", data }], encryption: "age" };
    const { urlToken } = await create({ ...push, encryption_check: key.check }, bearer(owner.apiToken));
    const preview = await deployment.api(`/api/v2/pushes/${urlToken}/preview`);
    expect(preview.body).toMatchObject({ encryption: "age", encryption_check: key.check });
    const { body } = await open(urlToken);
    expect(await openText(body.payload, key.identity, "")).toBe("the secret");
    const file = await deployment.fetch(deployment.pathOf(body.files[0].url));
    const opened = await openFile(file.body ?? new Blob().stream(), key.identity);
    expect(await new Response(opened).text()).toBe("file content");
  });

  deployment.test("opens with its new content after the other has edited it", async () => {
    const { urlToken } = await create({ payload: "before", expire_after_views: 3 }, bearer(owner.apiToken));
    const edited = await deployment.visit(`/p/${urlToken}/edit`, owner, pushForm({ payload: "after" }));
    expect(edited.status).toBe(303);
    expect((await open(urlToken)).body.payload).toBe("after");
    expect((await open(urlToken)).body.payload).toBe("after");
  });

  deployment.test(
    "is changed through both by the API at the same moment: one change wins, and claims see whole contents",
    async () => {
      const { urlToken } = await create({ payload: "0", expire_after_views: 40 }, bearer(owner.apiToken));
      const path = `/api/sealpush/pushes/${urlToken}`;
      const edit = (payload: string) =>
        deployment.api(path, { method: "PATCH", body: { push: { payload } }, headers: bearer(owner.apiToken) });
      const contents = ["1", "2", "3", "4", "5", "6"];
      const [edits, claims] = await Promise.all([
        Promise.all(contents.map(edit)),
        Promise.all(contents.map(() => deployment.api(`/api/v2/pushes/${urlToken}`))),
      ]);
      const written = contents.filter((_, at) => edits[at]?.status === 200);
      expect(edits.every(({ status }) => status === 200 || status === 409)).toBe(true);
      expect(new Set(edits.map(({ process }) => process)).size).toBe(2);
      const opened = claims.filter(({ status }) => status === 200);
      for (const { body } of opened) expect(["0", ...written]).toContain(body.payload);
      expect(written).toContain((await open(urlToken)).body.payload);
      // A claim that met too many changes is refused, and not counted.
      expect(claims.every(({ status }) => status === 200 || status === 503)).toBe(true);
      expect((await open(urlToken)).body.views_remaining).toBe(40 - opened.length - 2);
    },
  );

  deployment.test("is deleted by the other one, which both see, downloads included", async () => {
    const files = [{ filename: "a.txt", data: Buffer.from("a file").toString("base64") }];
    const { urlToken } = await create({ kind: "file", files }, bearer(owner.apiToken));
    const { body } = await open(urlToken);
    const path = `/api/v2/pushes/${urlToken}`;
    const deleted = await deployment.api(path, { method: "DELETE", headers: bearer(owner.apiToken) });
    expect(deleted).toMatchObject({ status: 200, body: { deleted: true } });
    for (const _ of ["each", "process"]) {
      expect((await open(urlToken)).body).toMatchObject({ expired: true, deleted: true, files: [] });
    }
    for (const _ of ["each", "process"]) {
      expect((await deployment.fetch(deployment.pathOf(body.files[0].url))).status).toBe(404);
    }
  });

  deployment.test("is listed and audited the same by both", async () => {
    const { urlToken } = await create({ payload: "x", name: "listed" }, bearer(owner.apiToken));
    await open(urlToken);
    await open(urlToken);
    for (const _ of ["each", "process"]) {
      const trail = await deployment.api(`/api/v2/pushes/${urlToken}/audit`, { headers: bearer(owner.apiToken) });
      expect(trail.body.logs.map(({ kind }: { kind: string }) => kind)).toEqual(["creation", "view", "view"]);
      const [latest] = (await deployment.api("/api/v2/pushes/active", { headers: bearer(owner.apiToken) })).body;
      expect(latest).toMatchObject({ url_token: urlToken, name: "listed", views_remaining: 3 });
    }
  });
});
