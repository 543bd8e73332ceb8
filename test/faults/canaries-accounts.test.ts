import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { finish, withMetrics } from "../support/canary-requests.ts";
import { CanaryWalk } from "../support/canary-walk.ts";
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
  readonly walk: CanaryWalk;
  readonly sink: MailSink;
  readonly provider: TestProvider;
}

/** A server with no user yet that logs all it ever says; every secret of its settings is marked. */
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
  const walk = new CanaryWalk(await startServer({ dataDir, environment }), dataDir);
  walk.canaries.add("master key", masterKey);
  walk.canaries.add("mail password", smtpPassword);
  walk.canaries.add("client secret of single sign-on", provider.environment.PWP__OIDC__CLIENT_SECRET ?? "");
  return { walk, sink, provider };
}

const form = (fields: Headers, headers: Headers = browser): RequestInit => ({
  method: "POST",
  headers,
  body: new URLSearchParams(fields),
});

/** @returns what the browser sends with the session that this answer began; marked from now on. */
function learnSession({ canaries }: CanaryWalk, answer: { readonly headers: globalThis.Headers }, of: string): Headers {
  const line = answer.headers.getSetCookie().find((cookie) => cookie.startsWith("sealpush_session=")) ?? "";
  const cookie = line.split(";", 1)[0] ?? "";
  canaries.add(`${of} session`, cookie.split("=", 2)[1] ?? "");
  return { ...browser, cookie };
}

async function signIn(walk: CanaryWalk, email: string, password: string, of: string): Promise<Headers> {
  return learnSession(walk, await walk.ask(303, "/users/sign_in", form({ email, password })), of);
}

async function learnLink({ walk, sink }: Begun, to: string, path: string, field: string, name: string) {
  for (;;) {
    const mail = await sink.next(to);
    if (mail.text?.includes(`${path}?`) !== true) continue;
    const link = linkIn(mail, path);
    const token = link.searchParams.get(field) ?? "";
    walk.canaries.add(name, token);
    return { page: `${link.pathname}${link.search}`, token };
  }
}

/** @returns an administrator's session. */
async function firstRun(walk: CanaryWalk): Promise<Headers> {
  const { canaries, server } = walk;
  const bootCode = bootCodeOf(server);
  const showing = () => server.logLines.filter((line) => line.includes(bootCode));
  expect(showing()).toHaveLength(1);
  const password = canaries.make("administrator's password");
  const wrong = canaries.make("wrong boot code");
  const asked = { email: root, password };
  const answers = [
    await walk.ask(200, "/first_run", { headers: browser }),
    await walk.ask(422, "/first_run", form({ ...asked, boot_code: wrong })),
    await walk.ask(422, "/first_run", form({ ...asked, boot_code: bootCode, email: "none" })),
  ];
  const made = await walk.ask(303, "/first_run", form({ ...asked, boot_code: bootCode }));
  for (const { text, headers } of [...answers, made]) {
    expect(`${text}${JSON.stringify([...headers])}`).not.toContain(bootCode);
  }
  expect(showing()).toHaveLength(1);
  return learnSession(walk, made, "administrator's");
}

test("no account secret is stored or sent where it does not belong, from the first run to a password reset", async () => {
  const begun = await begin();
  const { walk } = begun;
  const { canaries } = walk;
  const admin = await firstRun(walk);

  const password = canaries.make("password");
  await walk.ask(422, "/users/sign_up", form({ email: "none", password }));
  await walk.ask(200, "/users/sign_up", form({ email: ada, password }));
  const confirmation = await learnLink(begun, ada, "/users/confirmation", "confirmation_token", "confirmation link");
  await walk.ask(200, confirmation.page, { headers: browser }, ["confirmation link"]);
  await walk.ask(303, "/users/confirmation", form({ confirmation_token: confirmation.token }));
  await walk.ask(404, "/users/confirmation", form({ confirmation_token: confirmation.token }));

  await walk.ask(401, "/users/sign_in", form({ email: ada, password: canaries.make("wrong password") }));
  const session = await signIn(walk, ada, password, "first");
  const backupCode = await setUpApp(walk, session);

  const half = await signIn(walk, ada, password, "waiting");
  await walk.ask(401, "/users/second_factor", form({ code: canaries.make("wrong code") }, half));
  await walk.ask(401, "/users/second_factor", form({ backup_code: canaries.make("wrong backup code") }, half));
  const complete = await walk.ask(303, "/users/second_factor", form({ backup_code: backupCode }, half));
  const whole = learnSession(walk, complete, "second");

  const made = await walk.ask(201, "/users/token", form({ name: "script", proof: password }, whole));
  const apiToken = /sp_[\w-]{43}/.exec(made.text)?.[0] ?? "";
  canaries.add("API token", apiToken);
  for (const url of ["/users/token", "/users/edit", "/users/factors", "/users/edit/data", "/p", "/"]) {
    await walk.ask(200, url, { headers: whole });
  }
  await walk.ask(422, "/users/edit/email", form({ email: moved, password: canaries.make("guess") }, whole));
  await walk.ask(303, "/users/edit/email", form({ email: moved, password }, whole));
  const move = await learnLink(begun, moved, "/users/confirmation/new_email", "token", "link to a new e-mail");
  await walk.ask(200, move.page, { headers: browser }, ["link to a new e-mail"]);
  await walk.ask(303, "/users/confirmation/new_email", form({ token: move.token }));
  await walk.ask(404, move.page, { headers: browser });

  await walk.ask(200, "/users/password/new", form({ email: moved }));
  const reset = await learnLink(begun, moved, "/users/password/edit", "reset_password_token", "reset link");
  await walk.ask(200, reset.page, { headers: browser }, ["reset link"]);
  const given = { reset_password_token: reset.token };
  await walk.ask(422, "/users/password/edit", form({ ...given, password: "short" }), ["reset link"]);
  const next = canaries.make("next password");
  await walk.ask(303, "/users/password/edit", form({ ...given, password: next }));
  await walk.ask(404, "/users/password/edit", form({ ...given, password: next }));
  await walk.ask(303, "/users/edit", { headers: whole });

  for (const url of ["", "/users", "/pushes", "/settings", "/mails", "/look", "/trail"]) {
    await walk.ask(200, `/admin${url}`, { headers: admin });
  }
  await finish(walk);
});

/** @returns a backup code. */
async function setUpApp(walk: CanaryWalk, session: Headers): Promise<string> {
  const { canaries } = walk;
  const path = "/users/factors/authenticator_app";
  const { text } = await walk.ask(200, path, { headers: session });
  const shown = /<output[^>]*>([A-Z2-7 ]+)<\/output>/.exec(text)?.[1] ?? "";
  const setUp = /name="set_up" value="([^"]*)"/.exec(text)?.[1] ?? "";
  canaries.add("authenticator key", shown.replaceAll(" ", ""));
  canaries.add("authenticator key, as it is shown", shown);
  canaries.add("set-up", setUp);
  const again = await walk.ask(422, path, form({ set_up: setUp, code: canaries.make("wrong set-up code") }, session), [
    "authenticator key, as it is shown",
    "set-up",
    ...(text.includes(shown.replaceAll(" ", "")) ? ["authenticator key"] : []),
  ]);
  expect(again.text).toContain(shown);
  const code = appFor(shown, Date.now).code();
  const added = await walk.ask(200, path, form({ set_up: setUp, code }, session));
  const codes = added.text.match(/\b[0-9a-z]{4}(?:-[0-9a-z]{4}){3}\b/g) ?? [];
  expect(codes).toHaveLength(10);
  for (const [at, each] of codes.entries()) canaries.add(`backup code ${at}`, each);
  return codes[0] ?? "";
}

test("no single sign-on secret is stored or sent where it does not belong", async () => {
  const { walk, provider } = await begin();
  const { canaries } = walk;
  await firstRun(walk);
  provider.people.set("bob", { email: "bob@example.com", email_verified: true });
  provider.answer = { login: { accountId: "bob" } };

  const leaving = await walk.ask(200, "/users/auth/oidc", form({ next: "/users/token" }));
  const step = leaving.headers.getSetCookie().find((cookie) => cookie.startsWith("sealpush_sign_on=")) ?? "";
  const cookie = step.split(";", 1)[0] ?? "";
  const address = new URL(urlOf(leaving.text));
  canaries.add("step of a sign-on", cookie.split("=", 2)[1] ?? "");
  canaries.add("state", address.searchParams.get("state") ?? "");
  canaries.add("nonce", address.searchParams.get("nonce") ?? "");
  const callback = await provider.walk(address.href);
  canaries.add("code", new URL(callback, baseUrl).searchParams.get("code") ?? "");

  const stray = canaries.makeCore("stray state");
  await walk.ask(400, `/users/auth/oidc/callback?code=${stray}&state=${stray}`, { headers: { ...browser, cookie } });
  const entered = await walk.ask(303, callback, { headers: { ...browser, cookie } });
  const session = learnSession(walk, entered, "signed on");
  await walk.ask(200, "/users/token", { headers: session });
  await walk.ask(400, callback, { headers: { ...browser, cookie } });
  await finish(walk);
});
