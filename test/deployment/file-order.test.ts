import { beforeAll, expect, test } from "vitest";
import { openDeployment } from "../support/deployment.ts";
import type { Owner } from "../support/owner.ts";
import { pushForm } from "../support/owner-requests.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";

const deployment = openDeployment();
let ada: Owner;
beforeAll(async () => {
  ada = await deployment.makeUser("ada@example.com");
});

const pushes = 40;
/** Longer than a letter, which the binary fields of an archive may contain by chance. */
const filenames = ["a.txt", "b.txt", "c.txt"];
const contentOf = (name: string) => `in ${name}`;

const asAda = (path: string, init: RequestInit = {}) =>
  deployment.fetch(path, {
    ...init,
    headers: { cookie: ada.cookie, "sec-fetch-site": "same-origin", ...init.headers },
  });

/** @returns the path of the upload. */
async function openUpload(name: string): Promise<string> {
  const headers = {
    "tus-resumable": "1.0.0",
    "upload-length": String(contentOf(name).length),
    "upload-metadata": `filename ${btoa(name)},filetype ${btoa("text/plain")}`,
  };
  const opened = await asAda("/uploads", { method: "POST", headers });
  expect(opened.status).toBe(201);
  return opened.headers.get("location") ?? "";
}

async function sendFile(path: string, name: string): Promise<void> {
  const headers = {
    "tus-resumable": "1.0.0",
    "upload-offset": "0",
    "content-type": "application/offset+octet-stream",
  };
  expect((await asAda(path, { method: "PATCH", headers, body: contentOf(name) })).status).toBe(204);
}

async function sendForm(path: string, form: FormData): Promise<string> {
  const answer = await asAda(path, { method: "POST", body: form });
  expect(answer.status).toBe(303);
  return /\/p\/([a-z0-9]+)/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
}

/** Sends the files in requests of their own, which the processes answer in turn, and names them in this order. */
async function pushUploads(names: readonly string[]): Promise<string> {
  const opened = new Map<string, string>();
  for (const name of filenames) opened.set(name, await openUpload(name));
  for (const [name, path] of opened) await sendFile(path, name);
  const uploads = names.map((name) => (opened.get(name) ?? "").slice("/uploads/".length));
  return await sendForm("/p", pushForm({ kind: "file", expire_after_views: "50", retrieval_step: "0", uploads }));
}

async function opened(urlToken: string): Promise<readonly (readonly [name: string, content: string])[]> {
  const answer = await deployment.fetch(`/api/v2/pushes/${urlToken}`);
  expect(answer.status).toBe(200);
  const { files } = await answer.json();
  const found: [string, string][] = [];
  for (const { filename, url } of files) {
    found.push([filename, await (await deployment.fetch(deployment.pathOf(url))).text()]);
  }
  return found;
}

const withContents = (names: readonly string[]) => names.map((name) => [name, contentOf(name)]);

test(`${pushes} pushes of files that both processes received open, with the files in the order of the form`, async () => {
  const numbers = seededNumbers(0x42);
  for (let made = 0; made < pushes; made += 1) {
    const names = filenames
      .map((name) => [numbers(), name] as const)
      .sort(([a], [b]) => a - b)
      .map(([, name]) => name);
    expect(await opened(await pushUploads(names))).toEqual(withContents(names));
  }
  const [{ count = 0 } = {}] = await deployment.query<{ count: number }>(
    `SELECT count(DISTINCT one.push_id)::int AS count FROM files AS one
     JOIN files AS other ON other.push_id = one.push_id AND other.position > one.position AND other.id < one.id`,
  );
  expect(count).toBeGreaterThan(pushes / 2);
});

deployment.test("the page, the archive and the edit form have this order, and an edit adds at the end", async () => {
  const names = ["c.txt", "a.txt", "b.txt"];
  const urlToken = await pushUploads(names);
  const page = await (await asAda(`/p/${urlToken}`)).text();
  const shown = [...page.matchAll(/class="file-name"[^>]*>\s*<bdi[^>]*>([^<]*)</g)].map(([, name]) => name);
  expect(shown).toEqual(names);
  const archive = await deployment.fetch(/href="(\/files\/zip\/[^"]+)"/.exec(page)?.[1] ?? "");
  const zipped = Buffer.from(await archive.arrayBuffer()).toString("latin1");
  const directory = zipped.slice(zipped.indexOf("PK\u0001\u0002"));
  expect(names.map((name) => directory.indexOf(name))).toEqual(
    names.map((name) => directory.indexOf(name)).toSorted((a, b) => a - b),
  );
  const form = pushForm({ expire_after_views: "50" }, { first: contentOf("first"), again: contentOf("again") });
  await sendForm(`/p/${urlToken}/edit`, form);
  const edited = [...names, "first", "again"];
  expect(await opened(urlToken)).toEqual(withContents(edited));
  const editForm = await (await asAda(`/p/${urlToken}/edit`)).text();
  const places = edited.map((name) => editForm.indexOf(`>${name}<`));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places.every((place) => place > 0)).toBe(true);
});
