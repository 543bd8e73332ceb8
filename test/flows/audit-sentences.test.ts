import { expect, test } from "vitest";
import { bearer, password, startTestApp, type TestApp } from "../support/app.ts";
import { CookieClient } from "../support/cookie-client.ts";

interface PushFields {
  readonly files?: readonly Readonly<Record<string, string>>[];
  readonly passphrase?: string;
  readonly deletable_by_viewer?: boolean;
  readonly expire_after_views?: number;
}

async function createPush({ server }: TestApp, token: string, fields: PushFields): Promise<string> {
  const payload = { push: { payload: "secret", ...fields } };
  const answer = await server.inject({ method: "POST", url: "/api/v2/pushes", headers: bearer(token), payload });
  return answer.json().url_token;
}

/** What the trail of a push says, newest first. */
async function sentences(reader: CookieClient, path: string, language = "en"): Promise<readonly string[]> {
  const { body } = await reader.get(path, "GET", { "accept-language": language });
  return [...body.matchAll(/<h3>([^<]*)<\/h3>/g)].map(([, sentence = ""]) => sentence);
}

async function openPeople() {
  const app = await startTestApp();
  const [adasToken, rootsToken] = [
    await app.makeToken("ada@example.com"),
    await app.makeToken("root@example.com", true),
  ];
  const [ada, root, stranger] = [new CookieClient(app), new CookieClient(app), new CookieClient(app)];
  await ada.signIn("ada@example.com", password);
  await root.signIn("root@example.com", password);
  return { app, adasToken, rootsToken, ada, root, stranger };
}

test("each event is described by who caused it, what happened, and whether it was counted", async () => {
  const { app, adasToken, ada, root, stranger } = await openPeople();
  await using _ = app;
  const files = [{ filename: "a.txt", content_type: "text/plain", data: "YQ==" }];
  const urlToken = await createPush(app, adasToken, { files, passphrase: "words", deletable_by_viewer: true });
  const api = `/api/v2/pushes/${urlToken}`;
  const asked = { "idempotency-key": "one-retrieval-of-a-test" };
  await stranger.get(api);
  await stranger.get(`${api}?passphrase=wrong`);
  const opened = await stranger.get(`${api}?passphrase=words`, "GET", asked);
  await stranger.get(`${api}?passphrase=words`, "GET", asked);
  await stranger.get(new URL(JSON.parse(opened.body).files[0].url).pathname);
  await ada.post(`/p/${urlToken}`, { passphrase: "words" });
  await ada.get(`${api}?passphrase=words`, "GET", bearer(adasToken));
  await root.post(`/p/${urlToken}`, { passphrase: "words" });
  await ada.post(`/p/${urlToken}/edit`, { "push[name]": "VPN", "push[current_passphrase]": "words" });
  await app.server.inject({ method: "DELETE", url: api });
  await stranger.get(api);
  await ada.post(`/p/${urlToken}`, { passphrase: "words" });

  expect(await sentences(ada, `/p/${urlToken}/audit`)).toEqual([
    "You tried to open it when it was no longer available",
    "Someone who has the link tried to open it when it was no longer available",
    "Someone who has the link deleted it",
    "You changed it",
    "An administrator of this server opened it; this view was not counted",
    "You opened it through the API, which counts as a view",
    "You opened it; this view was not counted",
    "Someone who has the link downloaded a file",
    "Someone who has the link opened it again; this view had been counted already",
    "Someone who has the link opened it",
    "Someone who has the link gave no passphrase or a wrong one",
    "Someone who has the link gave no passphrase or a wrong one",
    "You created this push",
  ]);
  expect(await sentences(ada, `/p/${urlToken}/audit`, "de")).toEqual([
    "Sie wollten ihn öffnen, als er nicht mehr verfügbar war",
    "Jemand, der den Link hat, wollte ihn öffnen, als er nicht mehr verfügbar war",
    "Jemand, der den Link hat, hat ihn gelöscht",
    "Sie haben ihn geändert",
    "Ein Administrator dieses Servers hat ihn geöffnet; dieser Aufruf wurde nicht gezählt",
    "Sie haben ihn über die API geöffnet, was als Aufruf zählt",
    "Sie haben ihn geöffnet; dieser Aufruf wurde nicht gezählt",
    "Jemand, der den Link hat, hat eine Datei heruntergeladen",
    "Jemand, der den Link hat, hat ihn noch einmal geöffnet; dieser Aufruf war schon gezählt",
    "Jemand, der den Link hat, hat ihn geöffnet",
    "Jemand, der den Link hat, hat keine oder eine falsche Passphrase eingegeben",
    "Jemand, der den Link hat, hat keine oder eine falsche Passphrase eingegeben",
    "Sie haben diesen Push erstellt",
  ]);
});

test("the end of a push names its cause, and administrators read of their own pushes as owners", async () => {
  const { app, adasToken, rootsToken, ada, root, stranger } = await openPeople();
  await using _ = app;
  const usedUp = await createPush(app, adasToken, { expire_after_views: 1 });
  await stranger.get(`/api/v2/pushes/${usedUp}`);
  expect((await sentences(ada, `/p/${usedUp}/audit`))[0]).toBe("Its views were used up, and the secret was destroyed");

  const deleted = await createPush(app, adasToken, {});
  await ada.post(`/p/${deleted}/expire`);
  expect((await sentences(ada, `/p/${deleted}/audit`))[0]).toBe("You deleted it");

  const own = await createPush(app, rootsToken, {});
  await root.post(`/p/${own}`);
  expect((await sentences(root, `/p/${own}/audit`))[0]).toBe("You opened it; this view was not counted");

  const removed = await createPush(app, adasToken, {});
  const id = /\/admin\/pushes\/(\d+)/.exec((await root.get("/admin/pushes")).body)?.[1] ?? "";
  await root.post(`/admin/pushes/${id}/expire`);
  const byAdministrator = "An administrator of this server deleted it";
  expect(await sentences(ada, `/p/${removed}/audit`)).toEqual([byAdministrator, "You created this push"]);
  expect(await sentences(root, `/admin/pushes/${id}`)).toEqual([byAdministrator, "The owner created this push"]);
});
