import type { Command } from "commander";
import { normalizeEmail } from "../base/email.ts";
import { composeEmail } from "../mail/compose.ts";
import { createSmtpMailer } from "../mail/smtp.ts";
import type { CommandDeps } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { getConfig } from "./settings.ts";

const messageIdBytes = 16;
export const mailIsOff = "Mail is off: set PWP__MAIL__SMTP_ADDRESS and PWP__OVERRIDE_BASE_URL.";

export function addMailCommands(program: Command, { io }: CommandDeps): void {
  program
    .command("mail")
    .description("Test the mail server.")
    .command("test")
    .description("Send one email immediately, without the outbox, and print the mail server's answer.")
    .requiredOption("--to <address>", "the recipient")
    .action(async ({ to }: { readonly to: string }) => {
      const { mail: settings, brandTitle } = getConfig(io);
      if (settings === undefined) {
        throw new CommandRefused(mailIsOff);
      }
      const address = normalizeEmail(to);
      if (address === undefined) throw new CommandRefused("This is not an email address.");
      const email = { to: address, language: null, content: { kind: "test" } } as const;
      const message = {
        to: address,
        ...composeEmail(email, { ...settings, instanceName: () => brandTitle ?? "Sealpush" }),
        messageId: `${io.random.bytes(messageIdBytes).toString("hex")}@${new URL(settings.baseUrl).hostname}`,
        date: io.clock.now(),
      };
      const sending = await createSmtpMailer(settings).send(message, new AbortController().signal);
      switch (sending.outcome) {
        case "accepted":
          io.stdout(`The mail server accepted it: ${sending.reply}\n`);
          return;
        case "refused":
        case "unavailable":
          throw new CommandRefused(sending.failure.sentence);
        case "stopped":
          throw new CommandRefused("Sending was stopped.");
      }
    });
}
