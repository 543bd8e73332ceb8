import { makeLinkKey } from "@sealpush/age/link-key";

export const seedEmail = "ada@example.com";
export const seedPassword = "a long enough password";

/** What a request needs so that a server with one account reads its body, on every route. */
export interface SeededRows {
  readonly apiToken: string;
  /** The cookie of a session. */
  readonly cookie: string;
  readonly pushToken: string;
  readonly requestToken: string;
  /** The last part of the address of a resumable upload. */
  readonly upload: string;
  /** An age recipient. */
  readonly recipient: string;
}

/** The settings that open every route that reads a body. */
export const seedSettings = { PWP__FILES__ALLOW_ANONYMOUS: "true", PWP__REQUESTS__ALLOW_ANONYMOUS: "true" };

/** @param apiToken of the account `seedEmail`, an administrator. */
export async function seedRows(origin: string, apiToken: string): Promise<SeededRows> {
  const authorization = `Bearer ${apiToken}`;
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { authorization, "content-type": "application/json" };
    const answer = await fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
    const { url_token: token } = (await answer.json()) as { url_token?: string };
    if (token === undefined) throw new Error(`${path} answered ${answer.status}.`);
    return token;
  };
  const { recipient, check } = await makeLinkKey();
  const request = { title: "a title", recipient, encryption_check: check, wants_files: true, answers_max: 50 };
  const cookie = await signIn(origin);
  return {
    apiToken,
    cookie,
    recipient,
    pushToken: await post("/api/v2/pushes", { push: { payload: "a secret", retrieval_step: true } }),
    requestToken: await post("/api/sealpush/requests", { request }),
    upload: await openUpload(origin, cookie),
  };
}

export async function signIn(origin: string): Promise<string> {
  const answer = await fetch(`${origin}/users/sign_in`, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ email: seedEmail, password: seedPassword }),
    redirect: "manual",
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(";", 1)[0];
  if (cookie === undefined) throw new Error(`The sign-in was answered ${answer.status}.`);
  return cookie;
}

async function openUpload(origin: string, cookie: string): Promise<string> {
  const metadata = `filename ${btoa("a")}`;
  const headers = { cookie, "sec-fetch-site": "same-origin", "tus-resumable": "1.0.0", "upload-metadata": metadata };
  const answer = await fetch(`${origin}/uploads`, {
    method: "POST",
    headers: { ...headers, "upload-length": String(8 * 1024 ** 2) },
  });
  const address = answer.headers.get("location")?.split("/").at(-1);
  if (address === undefined) throw new Error(`Opening an upload was answered ${answer.status}.`);
  return address;
}
