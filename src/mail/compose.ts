import { type ComponentChild, type CSSProperties, h } from "preact";
import { renderToString } from "preact-render-to-string";
import { hourMs } from "../base/clock.ts";
import { unreachable } from "../base/errors.ts";
import { oneLineOf } from "../base/one-line.ts";
import { browserOf } from "../base/user-agent.ts";
import { en, findMessages, type Messages } from "../i18n/i18n.ts";
import { type AccountChange, type ContentOf, type Email, linkLifeMs, type ReadyContent } from "./email.ts";

/** Names and addresses in an account notification are user input: they are truncated, so that no user can put their own message into an email. */
const factCharactersMax = 200;

const accountNotificationMessages = {
  new_client: "newClient",
  password_changed: "passwordChanged",
  email_changed: "emailChanged",
  email_assigned: "emailAssigned",
  token_made: "tokenMade",
  token_revoked: "tokenRevoked",
  factor_added: "factorAdded",
  factor_removed: "factorRemoved",
  backup_codes_made: "backupCodesMade",
  single_sign_on_linked: "singleSignOnLinked",
  single_sign_on_unlinked: "singleSignOnUnlinked",
} as const satisfies Record<AccountChange, keyof Messages["mail"]["accountNotifications"]>;

/** The settings that every email depends on. */
export interface EmailHead {
  /** Links in emails start with it. They never depend on a request: a requester could choose their host. */
  readonly baseUrl: string;
  /** The same for links of pushes. */
  readonly pushBaseUrl: string;
  readonly instanceName: () => string;
  /** The language for recipients whose language is not known; undefined: English. */
  readonly defaultLocale?: string | undefined;
  /** The languages of this instance; undefined: all that are supported. */
  readonly languages?: readonly Messages[] | undefined;
}

export function composeEmail(
  message: Pick<Email, "language"> & { readonly content: ReadyContent },
  { baseUrl, pushBaseUrl, instanceName, defaultLocale, languages }: EmailHead,
) {
  const spoken = findMessages(message.language ?? undefined, languages);
  const messages = spoken ?? findMessages(defaultLocale) ?? en;
  const linkBase = message.content.kind === "push_link" ? pushBaseUrl : baseUrl;
  const { host } = new URL(linkBase);
  const name = oneLine(instanceName());
  const composition = {
    messages,
    facts: [],
    action: undefined,
    afterAction: [],
    footer: messages.mail.footer({ host: `${name} (${host})` }),
    ...partsOf(message.content, messages, linkBase, spoken === undefined ? {} : { locale: spoken.locale.tag }),
  };
  return {
    subject: `${name}: ${composition.heading} (${host})`,
    text: renderText(composition),
    html: renderHtml(composition),
  };
}

type Parts = Pick<Composition, "heading" | "paragraphs"> &
  Partial<Pick<Composition, "facts" | "action" | "afterAction">>;

/** @param pageLocale the query that selects the recipient's language on a page; empty when it is not known. */
function partsOf(
  content: ReadyContent,
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
    case "approve_new_email":
      return {
        ...linkParts(mail.approveNewEmail, messages, {
          url: linkTo(baseUrl, "/users/confirmation/new_email", { token: content.token }),
          lifeMs: linkLifeMs.approve_new_email,
        }),
        facts: [[messages.signIn.email, oneLine(content.email)]],
      };
    case "reset_password":
      return linkParts(mail.resetPassword, messages, {
        url: linkTo(baseUrl, "/users/password/edit", { reset_password_token: content.token }),
        lifeMs: linkLifeMs.reset_password,
      });
    case "invitation":
      return linkParts(mail.invitation, messages, {
        url: linkTo(baseUrl, "/users/password/edit", { reset_password_token: content.token }),
        lifeMs: linkLifeMs.invitation,
      });
    case "link_sign_on":
      return linkParts(mail.linkSignOn, messages, {
        url: linkTo(baseUrl, "/users/auth/oidc/confirm", { token: content.token }),
        // The text says how long it is valid: the note counts hours.
        lifeMs: undefined,
      });
    case "already_registered":
      return linkParts(mail.alreadyRegistered, messages, { url: linkTo(baseUrl, "/users/sign_in"), lifeMs: undefined });
    case "sign_on_code": {
      const { subject, text, code, notYou } = mail.signOnCode;
      return { heading: subject, paragraphs: [text], facts: [[code, content.code]], afterAction: [notYou] };
    }
    case "break_glass":
      return breakGlassParts(content, messages);
    case "test":
      return { heading: mail.test.subject, paragraphs: [mail.test.text] };
    case "account_notification":
      return accountNotificationParts(content, messages, baseUrl);
    case "push_link":
      return pushLinkParts(content, messages, linkTo(baseUrl, content.path, pageLocale));
    case "push_view":
      return pushViewParts(content, messages);
    case "request_answered":
      return requestAnsweredParts(content, messages, linkTo(baseUrl, content.path, pageLocale));
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

function accountNotificationParts(
  content: ContentOf<"account_notification">,
  messages: Messages,
  baseUrl: string,
): Parts {
  const { mail, formats } = messages;
  const { subject, text } = mail.accountNotifications[accountNotificationMessages[content.change]];
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
  // This email goes to the account's previous address, so it must not link to the account.
  if (content.change === "email_changed") return { ...parts, afterAction: [mail.yours, mail.notYoursEmail] };
  return {
    ...parts,
    action: { label: mail.account, url: linkTo(baseUrl, "/users/edit"), note: undefined },
    afterAction: [mail.yours, mail.notYours],
  };
}

function breakGlassParts(content: ContentOf<"break_glass">, { mail, formats, signIn }: Messages): Parts {
  const { breakGlass, facts } = mail;
  const { subject, text } = breakGlass[content.event];
  const about: [string, string][] = [
    [signIn.email, content.account],
    [facts.when, formats.dateTime(content.at)],
    // The link is made in the server's shell.
    ...(content.event === "made"
      ? []
      : ([
          [facts.address, content.address || facts.unknown],
          [facts.browser, browserFact(content.userAgent) || facts.unknown],
        ] satisfies [string, string][])),
  ];
  return {
    heading: subject,
    paragraphs: [text],
    facts: about.map(([label, value]) => [label, oneLine(value)] as const),
    afterAction: [breakGlass.notYou],
  };
}

/** States the limits as they were when the email was queued. Delivery checks that the push has not ended since. */
function pushLinkParts(content: ContentOf<"push_link">, { mail, created, formats }: Messages, url: string): Parts {
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

/** Contains no link to the push: forwarding the email must not give access to it. */
function pushViewParts(content: ContentOf<"push_view">, messages: Messages): Parts {
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

/** Opens nothing by itself: the page needs the owner's session, and the answers need the owner's key. */
function requestAnsweredParts(content: ContentOf<"request_answered">, { mail, formats }: Messages, url: string): Parts {
  const { requestAnswered, facts } = mail;
  return {
    heading: requestAnswered.subject,
    paragraphs: [requestAnswered.text],
    facts: [
      [facts.about, oneLine(content.title)],
      [facts.when, formats.dateTime(content.at)],
    ],
    action: { label: requestAnswered.action, url, note: undefined },
    afterAction: [requestAnswered.why],
  };
}

function browserFact(userAgent: string): string {
  const { browser, system } = browserOf(userAgent);
  return [browser, system].filter((name) => name !== "").join(", ");
}

function oneLine(text: string): string {
  const plain = oneLineOf(text);
  const characters = [...plain];
  return characters.length <= factCharactersMax ? plain : `${characters.slice(0, factCharactersMax).join("")}…`;
}

function linkTo(baseUrl: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  const url = new URL(path, baseUrl);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** The parts of an email in their order, before they are rendered as text or HTML. None of them is markup. */
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

/** Mail clients drop style sheets and support few CSS rules, so each element has its own style. */
const style = {
  body: { margin: 0, padding: "24px 12px", backgroundColor: "#f5f6f3", color: "#16201d" },
  card: {
    maxWidth: "560px",
    margin: "0 auto",
    padding: "28px 24px 12px",
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
 * Loads nothing: no image, no style sheet, nothing that reveals that the email was opened. Written without JSX, because
 * Node also runs the domain and its commands from their sources, without a build.
 */
export function renderHtml({ messages, heading, paragraphs, facts, action, afterAction, footer }: Composition): string {
  const { tag, dir } = messages.locale;
  const head = h("head", null, [
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "viewport", content: "width=device-width" }),
    h("meta", { name: "format-detection", content: "telephone=no, date=no, address=no, email=no" }),
    h("title", null, heading),
  ]);
  // Many mail clients show the body alone, so the language and direction are repeated there.
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

/** As plain text, with each link on a line of its own. */
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
