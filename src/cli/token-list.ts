import type { Command } from "commander";
import type { ApiToken } from "../accounts/accounts.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { getUser } from "./get-user.ts";
import { withAccounts } from "./open-store.ts";
import { getConfig } from "./settings.ts";

const header = ["id", "name", "created", "last used", "revoked"];

export function addTokenList(token: Command, { io }: CommandDeps): void {
  token
    .command("list")
    .description("List a user's API tokens, newest first: columns with tabs between them, times in UTC.")
    .requiredOption("--email <address>", "the user whose tokens they are")
    .addHelpText("after", exitCodesHelp)
    .action(async ({ email }: { readonly email: string }) => {
      await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
        const user = await getUser(accounts, email);
        const tokens = await accounts.listTokens(user.id);
        for (const columns of [header, ...tokens.map(columnsOf)]) io.stdout(`${columns.join("\t")}\n`);
      });
    });
}

function columnsOf({ id, name, createdAt, lastUsedAt, revokedAt }: ApiToken): string[] {
  return [String(id), name, time(createdAt), time(lastUsedAt), time(revokedAt)];
}

function time(at: number | null): string {
  return at === null ? "-" : new Date(at).toISOString();
}
