import { type Command, InvalidArgumentError } from "commander";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { getUser } from "./get-user.ts";
import { withAccounts } from "./open-store.ts";
import { getConfig } from "./settings.ts";

interface Options {
  readonly email: string;
  readonly id: number;
}

export function addTokenRevoke(token: Command, { io }: CommandDeps): void {
  token
    .command("revoke")
    .description("Revoke an API token: a running server refuses it from that moment.")
    .requiredOption("--email <address>", "the user whose token it is")
    .requiredOption("--id <number>", 'its number, as "token list" shows it', parseId)
    .addHelpText("after", exitCodesHelp)
    .action(async ({ email, id }: Options) => {
      await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
        const user = await getUser(accounts, email);
        if (!(await accounts.revokeToken(user.id, id))) {
          throw new CommandRefused(`This user has no token ${id} that is in use.`);
        }
        io.stdout(`Revoked token ${id}.\n`);
      });
    });
}

function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1.");
  return Number(text);
}
