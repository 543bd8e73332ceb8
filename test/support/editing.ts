import { password, startTestApp, type TestApp } from "./app.ts";
import { type Fields, type Files, pushForm, signInAt } from "./owner-requests.ts";

/** A signed-in user with an API token. */
export interface Person {
  readonly cookie: string;
  readonly token: string;
}

export type { Fields, Files } from "./owner-requests.ts";

export interface Opened {
  readonly payload: string | null;
  readonly files?: readonly { readonly filename: string; readonly url: string }[];
  readonly views_remaining: number;
}

/** A server whose limits of files are small, and two of its users. */
export async function openEditing(): Promise<{
  readonly app: TestApp;
  readonly editing: Editing;
  readonly ada: Person;
  readonly eve: Person;
}> {
  const environment = { PWP__FILES__MAX_FILE_UPLOADS: "3", PWP__FILES__MAX_PUSH_BYTES: "100000" };
  const app = await startTestApp({ environment });
  const editing = await Editing.of(app);
  return { app, editing, ada: await editing.person("ada@example.com"), eve: await editing.person("eve@example.com") };
}

/** Sends the edit form of a push as a browser does, and reads the result as recipient and owner. */
export class Editing {
  readonly origin: string;
  readonly #app: TestApp;

  private constructor(app: TestApp, origin: string) {
    this.#app = app;
    this.origin = origin;
  }

  static async of(app: TestApp): Promise<Editing> {
    return new Editing(app, await app.listen());
  }

  async person(email: string, isAdmin = false): Promise<Person> {
    const token = await this.#app.makeToken(email, isAdmin);
    return { token, cookie: await this.signIn(email) };
  }

  /** @returns the cookie of a session. */
  signIn(email: string): Promise<string> {
    return signInAt(this.origin, email, password);
  }

  /** @returns the url_token of a new push. */
  async push(owner: Person | null, fields: Fields, files: Files = {}): Promise<string> {
    const answer = await fetch(`${this.origin}/api/v2/pushes`, {
      method: "POST",
      body: pushForm(fields, files),
      headers: owner === null ? {} : { authorization: `Bearer ${owner.token}` },
    });
    const body = await answer.json();
    if (answer.status !== 201) throw new Error(JSON.stringify(body));
    return body.url_token;
  }

  show(who: Person | null, urlToken: string): Promise<Response> {
    const headers = who === null ? {} : { cookie: who.cookie };
    return fetch(`${this.origin}/p/${urlToken}/edit`, { headers, redirect: "manual" });
  }

  send(
    who: Person | null,
    urlToken: string,
    fields: Fields,
    files: Files = {},
    headers: Readonly<Record<string, string>> = { "sec-fetch-site": "same-origin" },
  ): Promise<Response> {
    return fetch(`${this.origin}/p/${urlToken}/edit`, {
      method: "POST",
      body: pushForm(fields, files),
      headers: who === null ? headers : { ...headers, cookie: who.cookie },
      redirect: "manual",
    });
  }

  /** Retrieves the push with API v2. @throws if it is refused. */
  async open(urlToken: string, passphrase = ""): Promise<Opened> {
    const headers = { "x-push-passphrase": passphrase };
    const answer = await fetch(`${this.origin}/api/v2/pushes/${urlToken}`, { headers });
    if (answer.status !== 200) throw new Error(`Opening was answered ${answer.status}.`);
    return await answer.json();
  }

  async filesOf(urlToken: string, passphrase = ""): Promise<Files> {
    const { files = [] } = await this.open(urlToken, passphrase);
    const contents = await Promise.all(files.map(async ({ url }) => (await fetch(url)).text()));
    return Object.fromEntries(files.map(({ filename }, at) => [filename, contents[at] ?? ""]));
  }

  /** The kinds of a push's audit entries, newest first. */
  async kindsOf(owner: Person, urlToken: string): Promise<readonly string[]> {
    const headers = { authorization: `Bearer ${owner.token}` };
    const { logs } = await (await fetch(`${this.origin}/api/v2/pushes/${urlToken}/audit`, { headers })).json();
    return logs.map((entry: { kind: string }) => entry.kind);
  }

  /** The ids of a push's files in its edit form, by file name. */
  async fileIdsOf(owner: Person, urlToken: string): Promise<Record<string, string>> {
    const html = await (await this.show(owner, urlToken)).text();
    const boxes = html.matchAll(/name="push\[remove_files\]\[\]" value="(\d+)"[^>]*>.*?<bdi>(.*?)<\/bdi>/g);
    return Object.fromEntries([...boxes].map(([, id = "", name = ""]) => [name, id]));
  }
}

/** The errors of a form by field. */
export function problemsIn(html: string): Record<string, string> {
  const found = html.matchAll(/class="field-problem" id="push_(\w+?)_problem">(.*?)</g);
  return Object.fromEntries([...found].map(([, field = "", text = ""]) => [field, text]));
}
