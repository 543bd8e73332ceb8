import type { Command } from "commander";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { getUser } from "./get-user.ts";
import { withAccounts } from "./open-store.ts";
import { getConfig } from "./settings.ts";

interface Options {
  readonly email: string;
  readonly name: string;
}

export function addTokenCreate(token: Command, { io }: CommandDeps): void {
  token
    .command("create")
    .description("Create an API token and print it, alone, on standard output. It is shown this once.")
    .requiredOption("--email <address>", "the user whose token it is")
    .requiredOption("--name <name>", "what it is for (1 to 255 characters)")
    .addHelpText("after", exitCodesHelp)
    .action(async ({ email, name }: Options) => {
      await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
        const user = await getUser(accounts, email);
        const made = await accounts.createToken(user.id, name);
        io.stdout(`${made.token}\n`);
      });
    });
}
