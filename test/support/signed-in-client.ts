import { password, type TestApp } from "./app.ts";
import { ask, cookieSetBy, type Form } from "./form-requests.ts";

export interface SignInOptions {
  readonly address?: string;
  readonly userAgent?: string;
  /** Creates the account first; default: it exists already. */
  readonly join?: true;
  readonly admin?: boolean;
}

/** A user whose browser keeps the session's cookie. */
export interface SignedInClient {
  readonly email: string;
  /** The session cookie as the browser sends it. */
  cookie(): string;
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends a form with the headers of a page of this server. */
  post(url: string, form?: Readonly<Record<string, string>>): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly location: string | undefined;
}

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/** Signs in with the password that all test accounts have. */
export async function signInClient(
  fixture: TestApp,
  email: string,
  options: SignInOptions = {},
): Promise<SignedInClient> {
  if (options.join) await fixture.app.domain.accounts.createUser({ email, password, admin: options.admin ?? false });
  let cookie = "";
  const { address = "192.0.2.7", userAgent = firefox } = options;
  const send = async (
    url: string,
    form: Form | undefined,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => {
    const answer = await ask(fixture, url, form, { address, cookie, userAgent, headers });
    cookie = cookieSetBy(answer) ?? cookie;
    const { statusCode: status, body, headers: found } = answer;
    return { status, body, headers: found, location: typeof found.location === "string" ? found.location : undefined };
  };
  const person: SignedInClient = {
    email,
    cookie: () => cookie,
    get: (url, headers = {}) => send(url, undefined, headers),
    post: (url, form = {}) => send(url, form),
  };
  const answer = await person.post("/users/sign_in", { email, password });
  if (answer.status !== 303) throw new Error(`${email} could not sign in: ${answer.status}.`);
  return person;
}

/** The answer to a request with this cookie, from any client. */
export async function statusWithCookie(fixture: TestApp, cookie: string, url = "/users/edit"): Promise<number> {
  const answer = await fixture.server.inject({ method: "GET", url, headers: { cookie } });
  return answer.statusCode;
}
