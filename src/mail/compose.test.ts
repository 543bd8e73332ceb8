import { describe, expect, it } from "vitest";
import { languages } from "../i18n/i18n.ts";
import { composeEmail } from "./compose.ts";
import type { ReadyContent } from "./email.ts";

const baseUrl = "https://push.example.com";
const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0";
const notification = {
  kind: "account_notification",
  change: "token_made",
  subject: "deploy",
  at: Date.UTC(2030, 0, 2, 3, 4),
  address: "192.0.2.7",
  userAgent: firefox,
} as const satisfies ReadyContent;
const link = {
  kind: "push_link",
  pushId: 1,
  linkDeliveryId: 2,
  recipientIndex: 0,
  ownerId: 7,
  pathSealed: "",
  path: "/p/thetoken/r",
  from: "bob@example.com",
  passphraseRequired: true,
  viewsRemaining: 3,
  expiresAt: Date.UTC(2030, 0, 9),
} as const satisfies ReadyContent;
const view = {
  kind: "push_view",
  name: "VPN",
  pushKind: "qr",
  createdAt: Date.UTC(2030, 0, 1),
  at: Date.UTC(2030, 0, 2),
  address: "192.0.2.7",
  userAgent: firefox,
  views: 2,
  expireAfterViews: 5,
} as const satisfies ReadyContent;
const breakGlass = {
  kind: "break_glass",
  event: "made",
  account: "ada@example.com",
  at: Date.UTC(2030, 0, 2, 3, 4),
  address: "192.0.2.7",
  userAgent: firefox,
} as const satisfies ReadyContent;
const contents: readonly ReadyContent[] = [
  { kind: "confirm_account", token: "t" },
  { kind: "confirm_new_email", token: "t" },
  { kind: "reset_password", token: "t" },
  { kind: "invitation", token: "t" },
  { kind: "link_sign_on", token: "t" },
  breakGlass,
  { ...breakGlass, event: "used" },
  { kind: "already_registered" },
  { kind: "test" },
  notification,
  { ...notification, change: "email_changed" },
  link,
  { ...link, from: null, passphraseRequired: false, viewsRemaining: 1 },
  view,
  { ...view, name: "", views: 5 },
];

const compose = (content: ReadyContent, language: string | null = null) =>
  composeEmail({ language, content }, { baseUrl, pushBaseUrl: baseUrl, instanceName: () => "Sealpush" });

describe("links", () => {
  it.each([
    ["confirm_account", `${baseUrl}/users/confirmation?confirmation_token=a%2Bb%26c`],
    ["confirm_new_email", `${baseUrl}/users/confirmation/new_email?token=a%2Bb%26c`],
    ["reset_password", `${baseUrl}/users/password/edit?reset_password_token=a%2Bb%26c`],
    ["invitation", `${baseUrl}/users/password/edit?reset_password_token=a%2Bb%26c`],
  ] as const)("of %s contain the token, correctly encoded", (kind, url) => {
    const { text, html } = compose({ kind, token: "a+b&c" });
    expect(text).toContain(`\n${url}\n`);
    expect(html).toContain(`href="${url.replaceAll("&", "&amp;")}"`);
  });

  it("to a push select the recipient's language if one was chosen", () => {
    const linkFor = (language: string | null) => compose(link, language).text.match(/https:\S+/)?.[0];
    expect(linkFor(null)).toBe(`${baseUrl}/p/thetoken/r`);
    expect(linkFor("tlh")).toBe(`${baseUrl}/p/thetoken/r`);
    expect(linkFor("pt-BR")).toBe(`${baseUrl}/p/thetoken/r?locale=pt-BR`);
  });

  it("to a push, and no others, start with the address of a public gateway", () => {
    const head = { baseUrl, pushBaseUrl: "https://open.example.com", instanceName: () => "Sealpush" };
    for (const content of contents) {
      const { text } = composeEmail({ language: null, content }, head);
      const origins = new Set([...text.matchAll(/https:\/\/[^\s/]*/g)].map(([origin]) => origin));
      if (content.kind === "push_link") expect([...origins]).toEqual([head.pushBaseUrl]);
      else expect(origins).not.toContain(head.pushBaseUrl);
    }
  });

  it("only lead to the configured base URL, and nothing is loaded", () => {
    for (const content of contents) {
      const { text, html } = compose(content);
      for (const [link] of `${text} ${html}`.matchAll(/\w+:\/\/[^\s"<]*/g)) expect(link.startsWith(baseUrl)).toBe(true);
      expect(html).not.toMatch(/<(?:img|script|link|style|iframe|object)|\ssrc=|url\(|@import/i);
    }
  });
});

describe.each(languages.map((messages) => [messages.locale.tag, messages] as const))(
  "emails in %s",
  (tag, messages) => {
    it("are in that language, as text and as HTML", () => {
      for (const content of contents) {
        const { subject, text, html } = compose(content, tag);
        expect(html).toMatch(new RegExp(`^<!doctype html><html lang="${tag}" dir="${messages.locale.dir}">`));
        const heading = text.split("\n")[0] ?? "";
        expect(subject).toBe(`Sealpush: ${heading} (push.example.com)`);
        expect(html).toContain(`>${heading}</h1>`);
        if (tag !== "en") expect(text).not.toBe(compose(content).text);
      }
    });

    it("label an email address as one", () => {
      for (const event of ["made", "used"] as const)
        expect(compose({ ...breakGlass, event }, tag).text).toContain(`${messages.signIn.email}: ada@example.com`);
      const approval = compose({ kind: "approve_new_email", token: "t", email: "new@example.com" }, tag);
      expect(approval.text).toContain(`${messages.signIn.email}: new@example.com`);
    });

    it("state when, from where and by which browser a change was made, and what to do", () => {
      const { text, html } = compose(notification, tag);
      const { mail, formats } = messages;
      for (const part of [
        mail.accountNotifications.tokenMade.text,
        mail.notYours,
        "deploy",
        "192.0.2.7",
        "Firefox",
        "Windows",
      ]) {
        expect(text).toContain(part);
        expect(html).toContain(part.replaceAll("'", "&#39;"));
      }
      expect(text).toContain(formats.dateTime(notification.at));
      expect(text).toContain("UTC");
    });
  },
);

it("uses the default language for a recipient whose language is not one of the instance", () => {
  const inInstance = (language: string) => {
    const head = { baseUrl, pushBaseUrl: baseUrl, instanceName: () => "Sealpush", defaultLocale: "fr" };
    return composeEmail(
      { language, content: notification },
      { ...head, languages: languages.filter(({ locale }) => ["de", "fr"].includes(locale.tag)) },
    ).text;
  };
  expect(inInstance("de")).toBe(compose(notification, "de").text);
  expect(inInstance("ja")).toBe(compose(notification, "fr").text);
});

it("uses English for a recipient whose language is not known", () => {
  expect(compose(notification, null).text).toBe(compose(notification, "en").text);
  expect(compose(notification, "tlh").text).toBe(compose(notification, "en").text);
});

it("does not link to the account from its previous address", () => {
  expect(compose({ ...notification, change: "email_changed" }).text).not.toContain("http");
});

it("does not take line breaks, markup or text direction from user input", () => {
  const evil = `</td><a href="https://evil.example/">x</a>\r\nBcc: eve@example.com\u2028\u202etxt`;
  const { subject, text, html } = compose({ ...notification, subject: evil, address: evil, userAgent: evil });
  expect(subject).toBe("Sealpush: An API token was created (push.example.com)");
  for (const content of [
    { ...link, from: evil },
    { ...view, name: evil, address: evil },
  ]) {
    const mail = compose(content);
    expect(mail.subject).not.toMatch(/evil|\n/);
    expect(mail.html).not.toContain('<a href="https://evil');
    expect(mail.text.split("\n").filter((line) => line.startsWith("Bcc:"))).toEqual([]);
    expect(`${mail.text}${mail.html}`).not.toMatch(/[\u2028\u202e\r]/);
  }
  expect(html).not.toContain('<a href="https://evil');
  expect(html).not.toContain("\u202e");
  expect(text.split("\n").filter((line) => line.startsWith("Bcc:"))).toEqual([]);
  expect(text).not.toMatch(/[\u2028\u202e\r]/);
});

it("keeps emoji of several characters, and words with joiners", () => {
  const name = "\u{1f469}\u{1f3fd}\u200d\u{1f4bb} \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u5831\u544a";
  expect(compose({ ...view, name }).text).toContain(name);
});

it("cuts long user input", () => {
  const { text } = compose({ ...notification, subject: "long ".repeat(1_000) });
  expect(text.length).toBeLessThan(1_000);
});
