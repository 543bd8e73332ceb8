import { type Command, InvalidArgumentError, Option } from "commander";
import type { Accounts } from "../accounts/accounts.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { getUser } from "./get-user.ts";
import { withAccounts } from "./open-store.ts";
import { getConfig } from "./settings.ts";

interface Options {
  readonly email: string;
  readonly id?: number;
  readonly name?: string;
}

export function addTokenRevoke(token: Command, { io }: CommandDeps): void {
  const command = token
    .command("revoke")
    .description("Revoke API tokens: a running server refuses them from that moment.")
    .requiredOption("--email <address>", "the user whose token it is")
    .addOption(new Option("--id <number>", 'its number, as "token list" shows it').argParser(parseId).conflicts("name"))
    .option("--name <name>", "its name; all of the user's tokens of that name that are in use")
    .addHelpText("after", exitCodesHelp);
  command.action(async ({ email, id, name }: Options) => {
    if (id === undefined && name === undefined) command.error("error: give --id or --name");
    await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
      const user = await getUser(accounts, email);
      const wanted = id === undefined ? await idsNamed(accounts, user.id, name) : [id];
      const revoked: number[] = [];
      for (const tokenId of wanted) {
        if (await accounts.revokeToken(user.id, tokenId)) revoked.push(tokenId);
      }
      if (revoked.length === 0) throw new CommandRefused(`This user has no token ${id ?? name} that is in use.`);
      for (const tokenId of revoked) io.stdout(`Revoked token ${tokenId}.\n`);
    });
  });
}

async function idsNamed(accounts: Accounts, userId: number, name: string | undefined): Promise<readonly number[]> {
  const tokens = await accounts.listTokens(userId);
  return tokens.filter((token) => token.name === name && token.revokedAt === null).map((token) => token.id);
}

function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1.");
  return Number(text);
}
