import { describe, expect, test } from "vitest";
import { openMailSink } from "../../support/mail-sink.ts";
import { type Answer, type Fields, replayServer, wire } from "../../support/replay.ts";

/** Clients of Password Pusher that know nothing of rules, and what they show to the people who use them. */
const sink = await openMailSink();
const everyRuleButSealing = {
  ...sink.environment,
  PWP__ENABLE_USER_ACCOUNT_EMAILS: "false",
  PWP__POLICY__PASSPHRASE_REQUIRED: "true",
  PWP__POLICY__PASSPHRASE_MIN_LENGTH: "12",
  PWP__POLICY__PASSPHRASE_COMMON_ALLOWED: "false",
  PWP__POLICY__MAX_MINUTES: "2880",
  PWP__POLICY__MAX_VIEWS: "3",
  PWP__POLICY__KINDS: "text",
  PWP__POLICY__NOTIFY_ON_VIEW_REQUIRED: "true",
  PWP__POLICY__MAIL_DOMAINS: "example.com",
  PWP__REQUESTS__ENABLED: "false",
};
const replay = replayServer(everyRuleButSealing);
const sealing = replayServer({ ...everyRuleButSealing, PWP__POLICY__ENCRYPTION_REQUIRED: "true" });

interface Client {
  readonly name: string;
  readonly path: string;
  readonly wrapper: string;
  readonly headers: (token: string) => readonly string[];
  /** What it shows of a refusal. */
  readonly shows: (answer: Answer) => string;
}

const json = "Content-Type: application/json";

const clients: readonly Client[] = [
  {
    name: "the official command",
    path: "/api/v2/pushes",
    wrapper: "push",
    headers: (token) => ["User-Agent: python-requests/2.32.3", `Authorization: Bearer ${token}`, json],
    // The value of `error`, else the whole body.
    shows: (answer) => String(answer.object().error ?? answer.text),
  },
  {
    name: "the official browser extension",
    path: "/api/v2/pushes",
    wrapper: "push",
    headers: (token) => [
      "Origin: chrome-extension://abcdefghijklmnopabcdefghijklmnop",
      "Sec-Fetch-Site: none",
      "Sec-Fetch-Mode: cors",
      "Sec-Fetch-Dest: empty",
      `Authorization: Bearer ${token}`,
      json,
    ],
    shows: ({ text }) => text,
  },
  {
    name: "PassPushPosh on PowerShell 7",
    path: "/p.json",
    wrapper: "password",
    headers: (token) => ["User-Agent: PassPushPosh/1.0", `Authorization: Bearer ${token}`, json],
    // Invoke-RestMethod puts the body into the error that it throws.
    shows: ({ text }) => text,
  },
];

const send = ({ path, wrapper, headers }: Client, server: typeof replay, fields: Fields) =>
  server.send(
    wire(
      [`POST ${path} HTTP/1.1`, `Host: ${server.host}`, ...headers(server.token)],
      JSON.stringify({ [wrapper]: fields }),
    ),
  );

describe.each(clients)("$name", (client) => {
  test("shows each rule that it breaks", async () => {
    const fields = { payload: "x", kind: "text", expire_after_days: 3, expire_after_views: 4 };
    const answer = await send(client, replay, fields);
    expect(answer.status).toBe(422);
    const shown = client.shows(answer);
    for (const sentence of [
      "can't be blank: the rules of this server require one.",
      "must be at most 2880 minutes from the creation by the rules of this server.",
      "must be at most 3 by the rules of this server.",
    ]) {
      expect(shown).toContain(sentence);
    }
    const short = await send(client, replay, { payload: "x", passphrase: "otter" });
    expect([short.status, client.shows(short)]).toEqual([422, expect.stringContaining("at least 12 characters")]);
    const common = await send(client, replay, { payload: "x", passphrase: "Password2024!" });
    expect([common.status, client.shows(common)]).toEqual([
      422,
      expect.stringContaining("the first that attackers try"),
    ]);
  });

  test("makes a push that keeps to them, whose days and views follow the rules where it sends none", async () => {
    const answer = await send(client, replay, { payload: "x", passphrase: "wrapped otter lantern" });
    expect([answer.status, answer.object()]).toMatchObject([201, { expire_after_days: 2, expire_after_views: 3 }]);
  });

  test("shows that only sealed pushes are allowed, which it cannot make", async () => {
    const answer = await send(client, sealing, { payload: "x", passphrase: "wrapped otter lantern" });
    expect([answer.status, client.shows(answer)]).toEqual([
      422,
      expect.stringContaining("the rules of this server allow only end-to-end pushes."),
    ]);
  });
});

test("KpPwpush and the other PowerShell modules without a token are refused, because nobody could be notified", async () => {
  const answer = await replay.send(
    wire(
      ["POST /p.json HTTP/1.1", "User-Agent: WindowsPowerShell/5.1.19041.5737", `Host: ${replay.host}`, json],
      JSON.stringify({ password: { payload: "geheim", passphrase: "wrapped otter lantern" } }),
    ),
  );
  expect([answer.status, answer.object()]).toEqual([
    422,
    { notify_on_view: ["needs an API token or a signed-in user."] },
  ]);
});
