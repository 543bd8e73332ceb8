import { hourMs } from "../base/clock.ts";
import { unreachable } from "../base/errors.ts";
import { browserOf } from "../base/user-agent.ts";
import { en } from "../words/en.ts";
import { findWords, type Words } from "../words/words.ts";
import { type Letter, type LetterContent, linkLifeMs, type NoticeName } from "./letter.ts";
import { renderHtml, renderText } from "./render.ts";

/** What stands in a mail, in order, before it becomes text or HTML. Nothing in it is markup. */
export interface Composition {
  readonly words: Words;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Names and values. */
  readonly facts: readonly (readonly [string, string])[];
  readonly action: { readonly label: string; readonly url: string; readonly note: string | undefined } | undefined;
  readonly afterAction: readonly string[];
  readonly footer: string;
}

type Notice = Extract<LetterContent, { kind: "notice" }>;

/** Names and addresses in a notice are somebody's input: long enough to tell what is meant, too short to tell a story. */
const factCharactersMax = 200;

const noticeWords = {
  new_place: "newPlace",
  password_changed: "passwordChanged",
  email_changed: "emailChanged",
  token_made: "tokenMade",
  token_revoked: "tokenRevoked",
  factor_added: "factorAdded",
  factor_removed: "factorRemoved",
  backup_codes_made: "backupCodesMade",
  single_sign_on_linked: "singleSignOnLinked",
  single_sign_on_unlinked: "singleSignOnUnlinked",
} as const satisfies Record<NoticeName, keyof Words["mail"]["notices"]>;

/** @param baseUrl from the settings: a link in a mail never comes from a request. */
export function composeLetter(letter: Letter, baseUrl: string): { subject: string; text: string; html: string } {
  const words = findWords(letter.language ?? undefined) ?? en;
  const { host } = new URL(baseUrl);
  const composition = {
    words,
    facts: [],
    action: undefined,
    afterAction: [],
    footer: words.mail.footer({ host }),
    ...partsOf(letter.content, words, baseUrl),
  };
  return {
    subject: `${composition.heading} (${host})`,
    text: renderText(composition),
    html: renderHtml(composition),
  };
}

type Parts = Pick<Composition, "heading" | "paragraphs"> &
  Partial<Pick<Composition, "facts" | "action" | "afterAction">>;

function partsOf(content: LetterContent, words: Words, baseUrl: string): Parts {
  const { mail } = words;
  switch (content.kind) {
    case "confirm_account":
      return linkParts(mail.confirmAccount, words, {
        url: linkTo(baseUrl, "/users/confirmation", { confirmation_token: content.token }),
        lifeMs: linkLifeMs.confirm_account,
      });
    case "confirm_new_email":
      return linkParts(mail.confirmNewEmail, words, {
        url: linkTo(baseUrl, "/users/confirmation/new_email", { token: content.token }),
        lifeMs: linkLifeMs.confirm_new_email,
      });
    case "reset_password":
      return linkParts(mail.resetPassword, words, {
        url: linkTo(baseUrl, "/users/password/edit", { reset_password_token: content.token }),
        lifeMs: linkLifeMs.reset_password,
      });
    case "already_registered":
      return linkParts(mail.alreadyRegistered, words, { url: linkTo(baseUrl, "/users/sign_in"), lifeMs: undefined });
    case "test":
      return { heading: mail.test.subject, paragraphs: [mail.test.text] };
    case "notice":
      return noticeParts(content, words, baseUrl);
    default:
      return unreachable(content);
  }
}

interface LinkWords {
  readonly subject: string;
  readonly text: string;
  readonly action: string;
  readonly notYou: string;
}

function linkParts(
  { subject, text, action, notYou }: LinkWords,
  { mail }: Words,
  { url, lifeMs }: { url: string; lifeMs: number | undefined },
): Parts {
  const note = lifeMs === undefined ? undefined : mail.linkLife({ count: Math.round(lifeMs / hourMs) });
  return { heading: subject, paragraphs: [text], action: { label: action, url, note }, afterAction: [notYou] };
}

function noticeParts(content: Notice, words: Words, baseUrl: string): Parts {
  const { mail, formats } = words;
  const { subject, text } = mail.notices[noticeWords[content.notice]];
  const { browser, system } = browserOf(content.userAgent);
  const known = [browser, system].filter((name) => name !== "").join(", ");
  const facts: [string, string][] = [
    ...(content.subject === "" ? [] : ([[mail.facts.about, content.subject]] satisfies [string, string][])),
    [mail.facts.when, formats.dateTime(content.at)],
    [mail.facts.address, content.address || mail.facts.unknown],
    [mail.facts.browser, known || mail.facts.unknown],
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
