import type { Command } from "commander";
import { passwordSentences } from "../accounts/sign-in/password-rules.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { getUser } from "./get-user.ts";
import { withAccounts } from "./open-store.ts";
import { readPassword } from "./password-input.ts";
import { getConfig } from "./settings.ts";
import { shell } from "./user-change.ts";

export function addUserSetPassword(user: Command, { io }: CommandDeps): void {
  user
    .command("set-password")
    .description("Give a user another password. All of the user's sessions end; tokens and second factors stay.")
    .requiredOption("--email <address>", "the user")
    .requiredOption("--password-stdin", "read the password (12 to 1024 characters) from standard input, one line")
    .addHelpText("after", exitCodesHelp)
    .action(async ({ email }: { readonly email: string }) => {
      const config = getConfig(io);
      const password = await readPassword(io.stdin);
      await withAccounts(config, io, "refuse", async (accounts) => {
        const found = await getUser(accounts, email);
        const entry = accounts.adminEntry("set_password", found.email, shell);
        const outcome = await accounts.setPassword(found.id, password, entry);
        if (outcome === "unknown_user") throw new CommandRefused("The user has just been deleted.");
        if (outcome !== "changed") throw new CommandRefused(passwordSentences[outcome]);
        io.stdout(`User ${found.id} has a new password, and is signed out everywhere.\n`);
      });
    });
}
