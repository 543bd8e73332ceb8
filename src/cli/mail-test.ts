import type { Command } from "commander";
import { normalizeEmail } from "../base/email.ts";
import { composeEmail } from "../mail/compose.ts";
import { createSmtpMailer } from "../mail/smtp.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { getConfig } from "./settings.ts";

const messageIdBytes = 16;

export function addMailTest(mail: Command, { io }: CommandDeps): void {
  mail
    .command("test")
    .description("Send one mail at once, past the outbox, and say what the mail server answered.")
    .requiredOption("--to <address>", "who gets it")
    .addHelpText("after", exitCodesHelp)
    .action(async ({ to }: { readonly to: string }) => {
      const { mail: settings } = getConfig(io);
      if (settings === undefined) {
        throw new CommandRefused("Mail is off: set PWP__MAIL__SMTP_ADDRESS and PWP__OVERRIDE_BASE_URL.");
      }
      const address = normalizeEmail(to);
      if (address === undefined) throw new CommandRefused("This is not an e-mail address.");
      const letter = { to: address, language: null, content: { kind: "test" } } as const;
      const message = {
        to: address,
        ...composeEmail(letter, settings),
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
          throw new CommandRefused("The sending was stopped.");
      }
    });
}
