import type { Command } from "commander";
import type { Accounts, UserSummary } from "../accounts/accounts.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { withAccounts } from "./open-store.ts";
import { getConfig } from "./settings.ts";

const header = [
  "id",
  "e-mail",
  "administrator",
  "state",
  "second factor",
  "tokens in use",
  "created",
  "last signed in",
];

interface Options {
  readonly search: string;
  readonly json?: true;
}

export function addUserList(user: Command, { io }: CommandDeps): void {
  user
    .command("list")
    .description("List users, newest first: columns with tabs between them, times in UTC.")
    .option("--search <text>", "only those whose e-mail has this in it", "")
    .option("--json", "one JSON object a line instead of columns")
    .addHelpText("after", exitCodesHelp)
    .action(async ({ search, json }: Options) => {
      await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
        if (json !== true) io.stdout(`${header.join("\t")}\n`);
        for await (const summary of allUsers(accounts, search)) {
          const columns = columnsOf(summary);
          const line = json === true ? JSON.stringify(summary) : columns.join("\t");
          io.stdout(`${line}\n`);
        }
      });
    });
}

async function* allUsers(accounts: Accounts, search: string): AsyncGenerator<UserSummary> {
  for (let page = 1; ; page += 1) {
    const users = await accounts.searchUsers(search, page);
    if (users.length === 0) return;
    yield* users;
  }
}

function columnsOf({ user, tokensInUse, lastSignedInAt }: UserSummary): string[] {
  const unconfirmed = user.confirmedAt === null ? "unconfirmed" : "active";
  return [
    String(user.id),
    user.email,
    user.admin ? "yes" : "no",
    user.disabledAt === null ? unconfirmed : "disabled",
    user.hasSecondFactor ? "yes" : "no",
    String(tokensInUse),
    new Date(user.createdAt).toISOString(),
    lastSignedInAt === null ? "-" : new Date(lastSignedInAt).toISOString(),
  ];
}
