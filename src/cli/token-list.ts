import type { Command } from "commander";
import type { ApiToken } from "../accounts/accounts.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { getUser } from "./get-user.ts";
import { withAccounts } from "./open-store.ts";
import { getConfig } from "./settings.ts";

const header = ["id", "name", "created", "last used", "revoked", "last used from", "scopes", "expires", "networks"];

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

/** New columns come last: scripts count them. */
function columnsOf(token: ApiToken): string[] {
  const { id, name, scopes, expiresAt, networks, createdAt, lastUsedAt, lastUsedAddress, revokedAt } = token;
  return [
    ...[String(id), name, time(createdAt), time(lastUsedAt), time(revokedAt), lastUsedAddress ?? "-"],
    ...[scopes.join(" "), time(expiresAt), networks.length === 0 ? "-" : networks.join(" ")],
  ];
}

function time(at: number | null): string {
  return at === null ? "-" : new Date(at).toISOString();
}
