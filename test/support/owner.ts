import { openTestDomain, TestClock } from "./domain.ts";
import { type Fields, pushForm, signInAt } from "./owner-requests.ts";

/** A user with a session cookie and an API token. */
export interface Owner {
  readonly cookie: string;
  readonly apiToken: string;
}

export const password = "a long enough password";

/** @param baseUrl of a server that runs on the folder. */
export function makeOwner(dataDir: string, baseUrl: string): Promise<Owner> {
  return makeUser({ environment: { DATA_DIR: dataDir }, baseUrl, email: "ada@example.com" });
}

/**
 * Writes the user directly into the database: the operator's commands, each in a process of its own, cost five times as much.
 * @param at `environment` has the settings of the server at `baseUrl`.
 */
export async function makeUser(at: {
  readonly environment: Readonly<Record<string, string>>;
  readonly baseUrl: string;
  readonly email: string;
}): Promise<Owner> {
  const { environment, baseUrl, email } = at;
  const apiToken = await makeToken(environment, { email, admin: false });
  return { cookie: await signInAt(baseUrl, email, password), apiToken };
}

/**
 * Makes a user, by default with the password of all owners.
 * @param environment of the server.
 * @returns an API token of the user.
 */
export async function makeToken(
  environment: Readonly<Record<string, string>>,
  user: { readonly email: string; readonly admin: boolean; readonly password?: string },
): Promise<string> {
  const { DATA_DIR: dataDir = "" } = environment;
  await using fixture = await openTestDomain({ environment, dataDir, clock: new TestClock(Date.now()) });
  const { accounts } = fixture.domain;
  const { id } = await accounts.createUser({ password, ...user });
  return (await accounts.createToken(id, "test")).token;
}

/** The content of a push, identified by one word: it is the payload, and the name and content of each file. */
export interface Version {
  readonly word: string;
  readonly files: number;
}

function formOf({ word, files }: Version, more: Fields): FormData {
  const named = Array.from({ length: files }, (_, at) => [`${word}-${at}`, word]);
  return pushForm({ payload: word, ...more }, Object.fromEntries(named));
}

/** @returns the url_token. */
export async function pushVersion(baseUrl: string, owner: Owner, version: Version, views: number): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/v2/pushes`, {
    method: "POST",
    body: formOf(version, { expire_after_views: String(views) }),
    headers: { authorization: `Bearer ${owner.apiToken}` },
  });
  const body = await answer.json();
  if (answer.status !== 201) throw new Error(`Creating was answered ${answer.status}: ${JSON.stringify(body)}`);
  return body.url_token;
}

/** The ids of a push's files in its edit form. */
export async function fileIdsOf(baseUrl: string, owner: Owner, urlToken: string): Promise<readonly string[]> {
  const answer = await fetch(`${baseUrl}/p/${urlToken}/edit`, { headers: { cookie: owner.cookie } });
  const boxes = (await answer.text()).matchAll(/name="push\[remove_files\]\[\]" value="(\d+)"/g);
  return [...boxes].map(([, id = ""]) => id);
}

/** Replaces the content of a push. @returns the status code. */
export async function editTo(
  baseUrl: string,
  owner: Owner,
  urlToken: string,
  { version, more = {} }: { readonly version: Version; readonly more?: Fields },
): Promise<number> {
  const answer = await fetch(`${baseUrl}/p/${urlToken}/edit`, {
    method: "POST",
    body: formOf(version, more),
    headers: { cookie: owner.cookie, "sec-fetch-site": "same-origin" },
    redirect: "manual",
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** What a recipient gets: the word, or that the push has ended or is busy. @throws if it mixes two versions. */
export async function readVersion(baseUrl: string, urlToken: string): Promise<string | "gone" | "unavailable"> {
  const answer = await fetch(`${baseUrl}/api/v2/pushes/${urlToken}`);
  if (answer.status === 503) {
    await answer.arrayBuffer();
    return "unavailable";
  }
  const body = await answer.json();
  if (answer.status !== 200) throw new Error(`Opening was answered ${answer.status}: ${JSON.stringify(body)}`);
  if (body.payload === null) return "gone";
  const names: readonly string[] = (body.files ?? []).map((file: { filename: string }) => file.filename);
  for (const name of names) {
    if (!name.startsWith(`${body.payload}-`)) throw new Error(`The file ${name} lies beside "${body.payload}".`);
  }
  return body.payload;
}
