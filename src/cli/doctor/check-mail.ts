import type { MailSettings } from "../../config/config.ts";
import type { Mailer } from "../../mail/smtp.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const name = "mail";

/** Whether the mail server can be reached, its certificate is valid and sign-in works. Sends nothing. */
export async function checkMail(
  settings: MailSettings | undefined,
  mailer: (settings: MailSettings) => Pick<Mailer, "check">,
): Promise<Finding[]> {
  if (settings === undefined) return [ok(name, "No mail server is set, so no emails are sent.")];
  const failure = await mailer(settings).check();
  const server = `${settings.host} port ${settings.port}`;
  if (failure !== undefined) return [fail(name, `${server}: ${failure.sentence}`)];
  const works = settings.signIn === undefined ? "answers" : "answers and accepts the sign-in";
  return [ok(name, `${server} ${works}. To send a test email: mail test --to <address>.`)];
}

/** @param failed the number of emails in the outbox that were given up. */
export function checkFailedMails(failed: number): Finding[] {
  if (failed === 0) return [];
  return [warn("failed emails", `${failed} email(s) could not be delivered and were given up: see /admin.`)];
}
