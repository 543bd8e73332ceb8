import { type Command, InvalidArgumentError, Option } from "commander";
import { allScopes, type Scope, tokenLimits } from "../accounts/accounts.ts";
import { parseNetwork } from "../base/networks.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { getUser } from "./get-user.ts";
import { withAccounts } from "./open-store.ts";
import { getConfig } from "./settings.ts";

interface Options {
  readonly email: string;
  readonly name: string;
  readonly scope: readonly Scope[];
  readonly expiresIn: number | null;
  readonly network: readonly string[];
}

export function addTokenCreate(token: Command, { io }: CommandDeps): void {
  token
    .command("create")
    .description("Create an API token and print it, alone, on standard output. It is shown this once.")
    .requiredOption("--email <address>", "the user whose token it is")
    .requiredOption("--name <name>", "what it is for (1 to 255 characters)")
    .addOption(
      new Option("--scope <scope>", `what it may do: ${allScopes.join(", ")} or all; may be given several times`)
        .argParser(addScope)
        .default([], "all"),
    )
    .addOption(
      new Option("--expires-in <days>", `refused after 1 to ${tokenLimits.daysMax} days, such as 90 or 90d`)
        .argParser(parseDays)
        .default(null, "never"),
    )
    .addOption(
      new Option("--network <address>", "an IP address or network it may be used from; may be given several times")
        .argParser(addNetwork)
        .default([], "from anywhere"),
    )
    .addHelpText("after", exitCodesHelp)
    .action(async ({ email, name, scope, expiresIn, network }: Options) => {
      await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
        const user = await getUser(accounts, email);
        const scopes = scope.length === 0 ? allScopes : scope;
        const made = await accounts.createToken(user.id, name, {
          ...{ scopes, expiresInDays: expiresIn, networks: network },
        });
        io.stdout(`${made.token}\n`);
      });
    });
}

function addScope(text: string, before: readonly Scope[]): readonly Scope[] {
  const given = text === "all" ? allScopes : allScopes.filter((scope) => scope === text);
  if (given.length === 0) throw new InvalidArgumentError(`It must be one of ${allScopes.join(", ")} or all.`);
  return [...before, ...given];
}

function addNetwork(text: string, before: readonly string[]): readonly string[] {
  if (parseNetwork(text) === undefined) {
    throw new InvalidArgumentError("It must be an IP address (192.0.2.10) or a network (10.0.0.0/8).");
  }
  return [...before, text];
}

function parseDays(text: string): number {
  const days = Number(/^([1-9]\d{0,3})d?$/.exec(text)?.[1]);
  if (!(days <= tokenLimits.daysMax)) {
    throw new InvalidArgumentError(`It must be a number of days from 1 to ${tokenLimits.daysMax}.`);
  }
  return days;
}
