import { type ComponentChild, type CSSProperties, h } from "preact";
import { renderToString } from "preact-render-to-string";
import { hourMs } from "../base/clock.ts";
import { unreachable } from "../base/errors.ts";
import { browserOf } from "../base/user-agent.ts";
import { en, findMessages, type Messages } from "../i18n/i18n.ts";
import { type Email, type EmailContent, type LinkContent, linkLifeMs, type NoticeName } from "./email.ts";

type Notice = Extract<EmailContent, { kind: "notice" }>;

/** Names and addresses in a notice are somebody's input: long enough to tell what is meant, too short to tell a story. */
const factCharactersMax = 200;

const noticeMessages = {
  new_client: "newPlace",
  password_changed: "passwordChanged",
  email_changed: "emailChanged",
  token_made: "tokenMade",
  token_revoked: "tokenRevoked",
  factor_added: "factorAdded",
  factor_removed: "factorRemoved",
  backup_codes_made: "backupCodesMade",
  single_sign_on_linked: "singleSignOnLinked",
  single_sign_on_unlinked: "singleSignOnUnlinked",
} as const satisfies Record<NoticeName, keyof Messages["mail"]["notices"]>;

/** What every mail of an installation has from its settings. */
export interface EmailHead {
  /** A link in a mail never comes from a request. */
  readonly baseUrl: string;
  /** Of readers whose language is not known; undefined: English. */
  readonly defaultLocale?: string | undefined;
}

export function composeEmail(
  letter: Email,
  { baseUrl, defaultLocale }: EmailHead,
): { subject: string; text: string; html: string } {
  const spoken = findMessages(letter.language ?? undefined);
  const messages = spoken ?? findMessages(defaultLocale) ?? en;
  const { host } = new URL(baseUrl);
  const composition = {
    messages,
    facts: [],
    action: undefined,
    afterAction: [],
    footer: messages.mail.footer({ host }),
    ...partsOf(letter.content, messages, baseUrl, spoken === undefined ? {} : { locale: spoken.locale.tag }),
  };
  return {
    subject: `${composition.heading} (${host})`,
    text: renderText(composition),
    html: renderHtml(composition),
  };
}

type Parts = Pick<Composition, "heading" | "paragraphs"> &
  Partial<Pick<Composition, "facts" | "action" | "afterAction">>;

/** @param pageLocale the query by which a page speaks the reader's language, where that is known. */
function partsOf(
  content: EmailContent,
  messages: Messages,
  baseUrl: string,
  pageLocale: Readonly<Record<string, string>>,
): Parts {
  const { mail } = messages;
  switch (content.kind) {
    case "confirm_account":
      return linkParts(mail.confirmAccount, messages, {
        url: linkTo(baseUrl, "/users/confirmation", { confirmation_token: content.token }),
        lifeMs: linkLifeMs.confirm_account,
      });
    case "confirm_new_email":
      return linkParts(mail.confirmNewEmail, messages, {
        url: linkTo(baseUrl, "/users/confirmation/new_email", { token: content.token }),
        lifeMs: linkLifeMs.confirm_new_email,
      });
    case "reset_password":
      return linkParts(mail.resetPassword, messages, {
        url: linkTo(baseUrl, "/users/password/edit", { reset_password_token: content.token }),
        lifeMs: linkLifeMs.reset_password,
      });
    case "already_registered":
      return linkParts(mail.alreadyRegistered, messages, { url: linkTo(baseUrl, "/users/sign_in"), lifeMs: undefined });
    case "test":
      return { heading: mail.test.subject, paragraphs: [mail.test.text] };
    case "notice":
      return noticeParts(content, messages, baseUrl);
    case "push_link":
      return pushLinkParts(content, messages, linkTo(baseUrl, content.path, pageLocale));
    case "push_view":
      return pushViewParts(content, messages);
    default:
      return unreachable(content);
  }
}

interface LinkMessages {
  readonly subject: string;
  readonly text: string;
  readonly action: string;
  readonly notYou: string;
}

function linkParts(
  { subject, text, action, notYou }: LinkMessages,
  { mail }: Messages,
  { url, lifeMs }: { url: string; lifeMs: number | undefined },
): Parts {
  const note = lifeMs === undefined ? undefined : mail.linkLife({ count: Math.round(lifeMs / hourMs) });
  return { heading: subject, paragraphs: [text], action: { label: action, url, note }, afterAction: [notYou] };
}

function noticeParts(content: Notice, messages: Messages, baseUrl: string): Parts {
  const { mail, formats } = messages;
  const { subject, text } = mail.notices[noticeMessages[content.notice]];
  const facts: [string, string][] = [
    ...(content.subject === "" ? [] : ([[mail.facts.about, content.subject]] satisfies [string, string][])),
    [mail.facts.when, formats.dateTime(content.at)],
    [mail.facts.address, content.address || mail.facts.unknown],
    [mail.facts.browser, browserFact(content.userAgent) || mail.facts.unknown],
  ];
  const parts = {
    heading: subject,
    paragraphs: [text],
    facts: facts.map(([name, value]) => [name, oneLine(value)] as const),
  };
  // It goes to the address that the account has just lost: no door of the account is open from there.
  if (content.notice === "email_changed") return { ...parts, afterAction: [mail.yours, mail.notYoursEmail] };
  return {
    ...parts,
    action: { label: mail.account, url: linkTo(baseUrl, "/users/edit"), note: undefined },
    afterAction: [mail.yours, mail.notYours],
  };
}

/** What is said of the link is what held when it was asked for; that it holds still is seen to when it is sent. */
function pushLinkParts(content: LinkContent, { mail, created, formats }: Messages, url: string): Parts {
  const { from, viewsRemaining, expiresAt, passphraseRequired } = content;
  const { pushLink } = mail;
  const sender = from === null ? undefined : oneLine(from);
  return {
    heading: pushLink.subject,
    paragraphs: [
      sender === undefined ? pushLink.text : pushLink.textFrom({ from: sender }),
      `${created.messageViews({ count: viewsRemaining })} ${created.messageUntil({ date: formats.dateTime(expiresAt) })}`,
      ...(passphraseRequired ? [pushLink.passphrase] : []),
    ],
    action: { label: pushLink.action, url, note: undefined },
    afterAction: [pushLink.notExpected],
  };
}

/** Nothing in it leads to the push: a mail that is passed on must not open it. */
function pushViewParts(content: Extract<EmailContent, { kind: "push_view" }>, messages: Messages): Parts {
  const { mail, formats, kinds } = messages;
  const { pushView, facts } = mail;
  const { name, pushKind, createdAt, at, address, userAgent, views, expireAfterViews } = content;
  const about: [string, string][] = [
    ...(name === "" ? [] : ([[facts.about, name]] satisfies [string, string][])),
    [kinds.label, kinds[pushKind]],
    [pushView.made, formats.dateTime(createdAt)],
    [facts.when, formats.dateTime(at)],
    [facts.address, address || facts.unknown],
    [facts.browser, browserFact(userAgent) || facts.unknown],
    [pushView.views, pushView.viewsOf({ used: views, allowed: expireAfterViews })],
  ];
  return {
    heading: pushView.subject,
    paragraphs: [views < expireAfterViews ? pushView.text : pushView.textLast],
    facts: about.map(([label, value]) => [label, oneLine(value)] as const),
    afterAction: [pushView.why],
  };
}

function browserFact(userAgent: string): string {
  const { browser, system } = browserOf(userAgent);
  return [browser, system].filter((name) => name !== "").join(", ");
}

/** Without line ends, and without the marks that turn the direction of what follows. */
function oneLine(text: string): string {
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  const characters = [...plain];
  return characters.length <= factCharactersMax ? plain : `${characters.slice(0, factCharactersMax).join("")}…`;
}

function linkTo(baseUrl: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  const url = new URL(path, baseUrl);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** What stands in a mail, in order, before it becomes text or HTML. Nothing in it is markup. */
export interface Composition {
  readonly messages: Messages;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Names and values. */
  readonly facts: readonly (readonly [string, string])[];
  readonly action: { readonly label: string; readonly url: string; readonly note: string | undefined } | undefined;
  readonly afterAction: readonly string[];
  readonly footer: string;
}

/** Programs that show mails know few of the rules that browsers know, and drop style sheets: each element has its own. */
const style = {
  body: { margin: 0, padding: "24px 12px", backgroundColor: "#f5f6f3", color: "#16201d" },
  card: {
    maxWidth: "560px",
    margin: "0 auto",
    padding: "28px 24px",
    backgroundColor: "#ffffff",
    border: "1px solid #dadfda",
    borderRadius: "10px",
    fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",
    fontSize: "16px",
    lineHeight: "1.55",
  },
  heading: { margin: "0 0 16px", fontSize: "22px", lineHeight: "1.3" },
  paragraph: { margin: "0 0 16px" },
  facts: { margin: "0 0 20px", fontSize: "15px", borderCollapse: "collapse" },
  name: {
    padding: "3px 0",
    paddingInlineEnd: "16px",
    color: "#55605c",
    textAlign: "start",
    verticalAlign: "top",
    fontWeight: "normal",
  },
  value: { padding: "3px 0", verticalAlign: "top", overflowWrap: "anywhere" },
  button: {
    display: "inline-block",
    padding: "12px 22px",
    backgroundColor: "#0e5c4a",
    color: "#ffffff",
    borderRadius: "8px",
    fontWeight: "600",
    textDecoration: "none",
  },
  small: { margin: "0 0 16px", fontSize: "14px", color: "#55605c" },
  link: { color: "#0e5c4a", overflowWrap: "anywhere" },
  footer: {
    maxWidth: "560px",
    margin: "16px auto 0",
    fontSize: "13px",
    color: "#55605c",
    textAlign: "center",
    fontFamily: "system-ui, sans-serif",
  },
} as const satisfies Record<string, CSSProperties>;

/**
 * Nothing in it is fetched from anywhere: no image, no style sheet, nothing that tells that the mail was opened. Written
 * without JSX, because the domain and its commands also run from their sources, which Node reads without a build.
 */
export function renderHtml({ messages, heading, paragraphs, facts, action, afterAction, footer }: Composition): string {
  const { tag, dir } = messages.locale;
  const head = h("head", null, [
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "viewport", content: "width=device-width" }),
    h("meta", { name: "format-detection", content: "telephone=no, date=no, address=no, email=no" }),
    h("title", null, heading),
  ]);
  // Many programs show the body alone: what the text is written in must stand there too.
  const card = h("div", { lang: tag, dir, style: style.card }, [
    h("h1", { style: style.heading }, heading),
    ...paragraphs.map(paragraph),
    ...(facts.length === 0 ? [] : [factsTable(facts)]),
    ...(action === undefined ? [] : actionParagraphs(action, messages.mail.byHand)),
    ...afterAction.map(paragraph),
  ]);
  const body = h("body", { style: style.body }, [card, h("p", { lang: tag, dir, style: style.footer }, footer)]);
  return `<!doctype html>${renderToString(h("html", { lang: tag, dir }, [head, body]))}`;
}

function paragraph(text: string): ComponentChild {
  return h("p", { style: style.paragraph }, text);
}

function factsTable(facts: Composition["facts"]): ComponentChild {
  const rows = facts.map(([name, value]) =>
    h("tr", null, [
      h("th", { scope: "row", style: style.name }, name),
      h("td", { style: style.value }, h("bdi", null, value)),
    ]),
  );
  return h("table", { style: style.facts }, h("tbody", null, rows));
}

function actionParagraphs(
  { label, url, note }: NonNullable<Composition["action"]>,
  byHand: string,
): readonly ComponentChild[] {
  return [
    h("p", { style: style.paragraph }, h("a", { href: url, style: style.button }, label)),
    h("p", { style: style.small }, [
      note === undefined ? "" : `${note} `,
      `${byHand} `,
      h("a", { href: url, dir: "ltr", style: style.link }, url),
    ]),
  ];
}

/** The same in plain text, links on lines of their own. */
export function renderText({ heading, paragraphs, facts, action, afterAction, footer }: Composition): string {
  const blocks = [
    heading,
    ...paragraphs,
    facts.map(([name, value]) => `${name}: ${value}`).join("\n"),
    action === undefined ? "" : `${action.label}:\n${action.url}`,
    action?.note ?? "",
    ...afterAction,
    `-- \n${footer}`,
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}
