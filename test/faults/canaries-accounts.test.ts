import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { CanaryClient } from "../support/canary-client.ts";
import { finish, withMetrics } from "../support/canary-requests.ts";
import { appFor } from "../support/factors.ts";
import { bootCodeOf } from "../support/form-requests.ts";
import { linkIn, type MailSink, startMailSink } from "../support/mail-sink.ts";
import { newDataDir } from "../support/processes.ts";
import { startProvider, type TestProvider } from "../support/provider.ts";
import { startServer } from "../support/server.ts";
import { urlOf } from "../support/sign-on.ts";

const baseUrl = "http://push.test";
const browser = {
  "user-agent": "Mozilla/5.0 (X11; Linux x64; rv:140.0) Gecko/20100101 Firefox/140.0",
  "sec-fetch-site": "same-origin",
};
const root = "root@example.com";
const ada = "ada@example.com";
const moved = "moved@example.com";

type Headers = Readonly<Record<string, string>>;

interface Begun {
  readonly client: CanaryClient;
  readonly sink: MailSink;
  readonly provider: TestProvider;
}

/** A server without users that logs everything; every secret in its settings is a canary. */
async function begin(): Promise<Begun> {
  const dataDir = newDataDir();
  const provider = await startProvider(baseUrl);
  onTestFinished(() => provider.close());
  const smtpPassword = `mail-${randomBytes(16).toString("hex")}`;
  const sink = await startMailSink({ baseUrl, signIn: { userName: "push", password: smtpPassword } });
  const masterKey = randomBytes(32).toString("hex");
  const environment = {
    ...sink.environment,
    ...provider.environment,
    PWPUSH_MASTER_KEY: masterKey,
    PWP__LOG_LEVEL: "debug",
    ...withMetrics,
  };
  const client = new CanaryClient(await startServer({ dataDir, environment }), dataDir);
  client.canaries.add("master key", masterKey);
  client.canaries.add("mail password", smtpPassword);
  client.canaries.add("client secret of single sign-on", provider.environment.PWP__OIDC__CLIENT_SECRET ?? "");
  return { client, sink, provider };
}

const form = (fields: Headers, headers: Headers = browser): RequestInit => ({
  method: "POST",
  headers,
  body: new URLSearchParams(fields),
});

/** @returns the headers of the session that this answer started; its token becomes a canary. */
function addSessionCanary(
  { canaries }: CanaryClient,
  answer: { readonly headers: globalThis.Headers },
  of: string,
): Headers {
  const line = answer.headers.getSetCookie().find((cookie) => cookie.startsWith("sealpush_session=")) ?? "";
  const cookie = line.split(";", 1)[0] ?? "";
  canaries.add(`${of} session`, cookie.split("=", 2)[1] ?? "");
  return { ...browser, cookie };
}

async function signIn(client: CanaryClient, email: string, password: string, of: string): Promise<Headers> {
  return addSessionCanary(client, await client.ask(303, "/users/sign_in", form({ email, password })), of);
}

async function addLinkCanary({ client, sink }: Begun, to: string, path: string, field: string, name: string) {
  for (;;) {
    const mail = await sink.next(to);
    if (mail.text?.includes(`${path}?`) !== true) continue;
    const link = linkIn(mail, path);
    const token = link.searchParams.get(field) ?? "";
    client.canaries.add(name, token);
    return { page: `${link.pathname}${link.search}`, token };
  }
}

/** @returns an administrator's session. */
async function firstRun(client: CanaryClient): Promise<Headers> {
  const { canaries, server } = client;
  const bootCode = bootCodeOf(server);
  const showing = () => server.logLines.filter((line) => line.includes(bootCode));
  expect(showing()).toHaveLength(1);
  const password = canaries.make("administrator's password");
  const wrong = canaries.make("wrong boot code");
  const asked = { email: root, password };
  const answers = [
    await client.ask(200, "/first_run", { headers: browser }),
    await client.ask(422, "/first_run", form({ ...asked, boot_code: wrong })),
    await client.ask(422, "/first_run", form({ ...asked, boot_code: bootCode, email: "none" })),
  ];
  const made = await client.ask(303, "/first_run", form({ ...asked, boot_code: bootCode }));
  for (const { text, headers } of [...answers, made]) {
    expect(`${text}${JSON.stringify([...headers])}`).not.toContain(bootCode);
  }
  expect(showing()).toHaveLength(1);
  return addSessionCanary(client, made, "administrator's");
}

test("no account secret is stored or sent where it does not belong, from the first run to a password reset", async () => {
  const begun = await begin();
  const { client } = begun;
  const { canaries } = client;
  const admin = await firstRun(client);

  const password = canaries.make("password");
  await client.ask(422, "/users/sign_up", form({ email: "none", password }));
  await client.ask(200, "/users/sign_up", form({ email: ada, password }));
  const confirmation = await addLinkCanary(
    begun,
    ada,
    "/users/confirmation",
    "confirmation_token",
    "confirmation link",
  );
  await client.ask(200, confirmation.page, { headers: browser }, ["confirmation link"]);
  await client.ask(303, "/users/confirmation", form({ confirmation_token: confirmation.token }));
  await client.ask(404, "/users/confirmation", form({ confirmation_token: confirmation.token }));

  await client.ask(401, "/users/sign_in", form({ email: ada, password: canaries.make("wrong password") }));
  const session = await signIn(client, ada, password, "first");
  const backupCode = await setUpApp(client, session);

  const half = await signIn(client, ada, password, "waiting");
  await client.ask(401, "/users/second_factor", form({ code: canaries.make("wrong code") }, half));
  await client.ask(401, "/users/second_factor", form({ backup_code: canaries.make("wrong backup code") }, half));
  const complete = await client.ask(303, "/users/second_factor", form({ backup_code: backupCode }, half));
  const whole = addSessionCanary(client, complete, "second");

  const made = await client.ask(201, "/users/token", form({ name: "script", proof: password }, whole));
  const apiToken = /sp_[\w-]{43}/.exec(made.text)?.[0] ?? "";
  canaries.add("API token", apiToken);
  for (const url of ["/users/token", "/users/edit", "/users/factors", "/users/edit/data", "/p", "/"]) {
    await client.ask(200, url, { headers: whole });
  }
  await client.ask(422, "/users/edit/email", form({ email: moved, password: canaries.make("guess") }, whole));
  await client.ask(303, "/users/edit/email", form({ email: moved, password }, whole));
  const move = await addLinkCanary(begun, moved, "/users/confirmation/new_email", "token", "link to a new email");
  await client.ask(200, move.page, { headers: browser }, ["link to a new email"]);
  await client.ask(303, "/users/confirmation/new_email", form({ token: move.token }));
  await client.ask(404, move.page, { headers: browser });

  await client.ask(200, "/users/password/new", form({ email: moved }));
  const reset = await addLinkCanary(begun, moved, "/users/password/edit", "reset_password_token", "reset link");
  await client.ask(200, reset.page, { headers: browser }, ["reset link"]);
  const given = { reset_password_token: reset.token };
  await client.ask(422, "/users/password/edit", form({ ...given, password: "short" }), ["reset link"]);
  const next = canaries.make("next password");
  await client.ask(303, "/users/password/edit", form({ ...given, password: next }));
  await client.ask(404, "/users/password/edit", form({ ...given, password: next }));
  await client.ask(303, "/users/edit", { headers: whole });

  for (const url of ["", "/users", "/pushes", "/settings", "/mails", "/look", "/trail"]) {
    await client.ask(200, `/admin${url}`, { headers: admin });
  }
  await finish(client);
});

/** @returns a backup code. */
async function setUpApp(client: CanaryClient, session: Headers): Promise<string> {
  const { canaries } = client;
  const path = "/users/factors/authenticator_app";
  const { text } = await client.ask(200, path, { headers: session });
  const shown = /<output[^>]*>([A-Z2-7 ]+)<\/output>/.exec(text)?.[1] ?? "";
  const setUp = /name="set_up" value="([^"]*)"/.exec(text)?.[1] ?? "";
  canaries.add("authenticator key", shown.replaceAll(" ", ""));
  canaries.add("authenticator key, as it is shown", shown);
  canaries.add("set-up", setUp);
  const again = await client.ask(
    422,
    path,
    form({ set_up: setUp, code: canaries.make("wrong set-up code") }, session),
    [
      "authenticator key, as it is shown",
      "set-up",
      ...(text.includes(shown.replaceAll(" ", "")) ? ["authenticator key"] : []),
    ],
  );
  expect(again.text).toContain(shown);
  const code = appFor(shown, Date.now).code();
  const added = await client.ask(200, path, form({ set_up: setUp, code }, session));
  const codes = added.text.match(/\b[0-9a-z]{4}(?:-[0-9a-z]{4}){3}\b/g) ?? [];
  expect(codes).toHaveLength(10);
  for (const [at, each] of codes.entries()) canaries.add(`backup code ${at}`, each);
  return codes[0] ?? "";
}

test("no single sign-on secret is stored or sent where it does not belong", async () => {
  const { client, provider } = await begin();
  const { canaries } = client;
  await firstRun(client);
  provider.people.set("bob", { email: "bob@example.com", email_verified: true });
  provider.answer = { login: { accountId: "bob" } };

  const leaving = await client.ask(200, "/users/auth/oidc", form({ next: "/users/token" }));
  const step = leaving.headers.getSetCookie().find((cookie) => cookie.startsWith("sealpush_sign_on=")) ?? "";
  const cookie = step.split(";", 1)[0] ?? "";
  const address = new URL(urlOf(leaving.text));
  canaries.add("step of a sign-on", cookie.split("=", 2)[1] ?? "");
  canaries.add("state", address.searchParams.get("state") ?? "");
  canaries.add("nonce", address.searchParams.get("nonce") ?? "");
  const callback = await provider.followRedirects(address.href);
  canaries.add("code", new URL(callback, baseUrl).searchParams.get("code") ?? "");

  const stray = canaries.makeCore("stray state");
  await client.ask(400, `/users/auth/oidc/callback?code=${stray}&state=${stray}`, { headers: { ...browser, cookie } });
  const entered = await client.ask(303, callback, { headers: { ...browser, cookie } });
  const session = addSessionCanary(client, entered, "signed on");
  await client.ask(200, "/users/token", { headers: session });
  await client.ask(400, callback, { headers: { ...browser, cookie } });
  await finish(client);
});
