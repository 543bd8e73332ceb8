import type { Command } from "commander";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { withAccounts } from "./open-store.ts";
import { readPassword } from "./password-input.ts";
import { getConfig } from "./settings.ts";
import { shell } from "./user-change.ts";

interface Options {
  readonly email: string;
  readonly admin?: true;
}

export function addUserCreate(user: Command, { io }: CommandDeps): void {
  user
    .command("create")
    .description("Create a user, who can then sign in and push files. Works before the server's first start too.")
    .requiredOption("--email <address>", "e-mail address to sign in with")
    .requiredOption("--password-stdin", "read the password (12 to 1024 characters) from standard input, one line")
    .option("--admin", "make the user an administrator")
    .addHelpText("after", exitCodesHelp)
    .action(async ({ email, admin }: Options) => {
      const config = getConfig(io);
      const password = await readPassword(io.stdin);
      await withAccounts(config, io, "make", async (accounts) => {
        const made = await accounts.createUser({ email, password, admin: admin === true }, (user) =>
          accounts.adminEntry("created_user", user.email, shell),
        );
        io.stdout(`Created user ${made.id} (${made.email}${made.admin ? ", administrator" : ""}).\n`);
      });
    });
}
