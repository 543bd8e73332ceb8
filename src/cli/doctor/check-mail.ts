import type { MailSettings } from "../../config/config.ts";
import type { Mailer } from "../../mail/smtp.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const name = "mail";

/** Can the mail server be reached, believed and signed in to? Sends nothing. @param mailer for these settings. */
export async function checkMail(
  settings: MailSettings | undefined,
  mailer: (settings: MailSettings) => Pick<Mailer, "check">,
): Promise<Finding[]> {
  if (settings === undefined) return [ok(name, "No mail server is set, so no emails are sent.")];
  const failure = await mailer(settings).check();
  const place = `${settings.host} port ${settings.port}`;
  if (failure !== undefined) return [fail(name, `${place}: ${failure.sentence}`)];
  const works = settings.signIn === undefined ? "answers" : "answers and takes the sign-in";
  return [ok(name, `${place} ${works}. To see a mail arrive: mail test --to <address>.`)];
}

/** @param failed how many mails were given up and still lie there. */
export function checkFailedMails(failed: number): Finding[] {
  if (failed === 0) return [];
  return [warn("failed mails", `${failed} mail(s) could not be delivered and were given up: see /admin.`)];
}
