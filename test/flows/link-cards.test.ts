import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";

const secret = "the secret content";
const ada = "ada@example.com";
const baseUrl = "https://push.example.org";

let app: TestApp;
let token: string;
beforeAll(async () => {
  const environment = { PWP__OVERRIDE_BASE_URL: baseUrl, PWP__BRAND__TITLE: "ACME" };
  app = await startTestApp({ environment });
  token = await app.makeToken(ada);
});
afterAll(() => app[Symbol.asyncDispose]());

async function create(push: object): Promise<string> {
  const payload = { push: { payload: secret, name: "label", sender_shown: true, expire_after_views: 1, ...push } };
  const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers: bearer(token), payload });
  return answer.json().url_token;
}

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const chat = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)";
const page = async (url: string, userAgent = browser) =>
  (await app.server.inject({ url, headers: { "user-agent": userAgent } })).body;

const cardIn = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<meta property="og:(\w+)" content="([^"]*)"/g)].map(([, name = "", content]) => [name, content]),
  );

const card = {
  site_name: "ACME",
  description: en.robot.text,
  image: `${baseUrl}/assets/icon-512.png`,
};

describe("a link in a chat", () => {
  test.each<[string, string, string, { passphrase?: string; retrieval_step?: boolean }]>([
    ["of a known chat", chat, en.robot.heading, {}],
    ["of a known chat, without a step", chat, en.robot.heading, { retrieval_step: false }],
    ["of an unknown chat", browser, en.step.title, {}],
    ["with a passphrase", browser, en.step.title, { passphrase: "phrase", retrieval_step: false }],
  ])("%s shows a card, which has nothing of the push and counts nothing", async (_name, userAgent, title, push) => {
    const urlToken = await create(push);
    for (const path of [`/p/${urlToken}`, `/p/${urlToken}/r`]) {
      const html = await page(path, userAgent);
      const [head = ""] = html.split("</head>");
      expect(cardIn(html)).toEqual({ ...card, title });
      for (const part of [ada, secret, "label", urlToken]) expect(head).not.toContain(part);
    }
    const headers = push.passphrase === undefined ? {} : { "x-push-passphrase": push.passphrase };
    expect((await app.server.inject({ url: `/api/v2/pushes/${urlToken}`, headers })).json().payload).toBe(secret);
  });

  test("has no card for a push that has ended or does not exist, and an opened one", async () => {
    const urlToken = await create({ retrieval_step: false });
    for (let times = 0; times < 2; times += 1) expect(cardIn(await page(`/p/${urlToken}`))).toEqual({});
    expect(cardIn(await page(`/p/${"a".repeat(32)}`))).toEqual({});
  });
});

test("the image is the instance's logo, under the address of links", async () => {
  const gif = Buffer.from("R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==", "base64");
  expect(await app.app.domain.branding.setLogo(gif, async () => undefined)).toBe(true);
  const { image = "" } = cardIn(await page(`/p/${await create({})}`));
  expect(image).toMatch(/^https:\/\/push\.example\.org\/branding\/logo-/);
  expect((await app.server.inject({ url: image.slice(baseUrl.length) })).rawPayload.equals(gif)).toBe(true);
});
