import { type PasswordProblem, passwordLimits } from "../accounts/accounts.ts";
import { signInPath } from "../http/authentication.ts";
import type { Messages } from "../i18n/i18n.ts";
import { MessagePage } from "./message-page.tsx";
import type { Page, PageContext } from "./page.ts";
import { ButtonLink } from "./parts/buttons.tsx";
import type { PageHandler, PageRequest, Reply } from "./request.ts";

/** A handler that answers 403 with an explanation if signing in is disabled. */
export function ifSignInEnabled(handler: PageHandler): PageHandler {
  return (page) => {
    const { loginsDisabled } = page.services.config.accounts;
    return loginsDisabled ? renderClosed(page, "sign-in") : handler(page);
  };
}

/** A handler that answers 403 with an explanation if signing in or signing up is disabled. */
export function ifSignUpEnabled(handler: PageHandler): PageHandler {
  return async (page) => {
    const { config, policies } = page.services;
    const { loginsDisabled, signupsDisabled } = config.accounts;
    if (loginsDisabled) return renderClosed(page, "sign-in");
    const isClosed = signupsDisabled || (await policies.isSignUpClosed());
    return isClosed ? renderClosed(page, "sign-up") : handler(page);
  };
}

type ClosedEntry = "sign-in" | "sign-up" | "sign-up without mail" | "sign-on only";

export function renderClosed(page: PageRequest, closed: ClosedEntry): Reply {
  return page.render(closedView, closed, { status: 403 });
}

/** Sets the cookie of the new session; the browser's previous session ends. */
export async function setSession(page: PageRequest, sessionToken: string): Promise<void> {
  const { accounts, sessionCookies } = page.services;
  const { raw, client } = page.request;
  const previous = sessionCookies.find(raw, client);
  if (previous !== undefined) await accounts.signOut(previous);
  const session = await accounts.authenticateSession(sessionToken);
  page.setCookie(sessionCookies.made(sessionToken, client, session?.cookieSeconds));
}

/** Sets the session and redirects. @param path one of this server. */
export async function enter(page: PageRequest, sessionToken: string, path: string): Promise<Reply> {
  await setSession(page, sessionToken);
  return page.redirect(path);
}

export function passwordSentence(problem: PasswordProblem, { entry }: Pick<Messages, "entry">): string {
  const { problems } = entry;
  const sentences: Readonly<Record<PasswordProblem, string>> = {
    password_length: problems.passwordLength(passwordLimits),
    password_common: problems.passwordCommon,
    password_repeated: problems.passwordRepeated,
    password_sequence: problems.passwordSequence,
    password_email: problems.passwordEmail,
  };
  return sentences[problem];
}

export function closedView(closed: ClosedEntry, page: PageContext): Page {
  const { entry, singleSignOn, nav } = page.messages;
  const { closed: signIn, signUp } = entry;
  const texts: Readonly<Record<ClosedEntry, readonly [heading: string, text: string]>> = {
    "sign-in": [signIn.heading, signIn.text],
    "sign-up": [signUp.closedHeading, signUp.closed],
    "sign-up without mail": [signUp.closedHeading, signUp.mailUnavailable],
    "sign-on only": [singleSignOn.closedHere, singleSignOn.closedHereText],
  };
  const [heading, text] = texts[closed];
  return (
    <MessagePage page={page} icon="shield" heading={heading} lead={text} isPublic>
      {closed === "sign-on only" && <ButtonLink to={signInPath} label={nav.signIn} look="primary" />}
    </MessagePage>
  );
}
