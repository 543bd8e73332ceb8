import { type Command, InvalidArgumentError, Option } from "commander";
import { type Accounts, type ApiToken, allScopes, type Scope, tokenLimits } from "../accounts/accounts.ts";
import { parseNetwork } from "../base/networks.ts";
import type { CommandDeps } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { getUser, withAccounts } from "./open-domain.ts";
import { printOnce } from "./print-once.ts";
import { getConfig } from "./settings.ts";

export function addTokenCommands(program: Command, deps: CommandDeps): void {
  const token = program.command("token").description("Manage the API tokens of a user.");
  addCreate(token, deps);
  addList(token, deps);
  addRevoke(token, deps);
}

interface CreateOptions {
  readonly email: string;
  readonly name: string;
  readonly scope: readonly Scope[];
  readonly expiresIn: number | null;
  readonly network: readonly string[];
}

function addCreate(token: Command, { io }: CommandDeps): void {
  token
    .command("create")
    .description("Create an API token and print it on standard output. It is shown only once.")
    .requiredOption("--email <address>", "the user")
    .requiredOption("--name <name>", "a name for the token (1 to 255 characters)")
    .addOption(
      new Option("--scope <scope>", `what the token may do: ${allScopes.join(", ")} or all; can be repeated`)
        .argParser(addScope)
        .default([], "all"),
    )
    .addOption(
      new Option("--expires-in <days>", `the token's lifetime, 1 to ${tokenLimits.daysMax} days, such as 90 or 90d`)
        .argParser(parseDays)
        .default(null, "never"),
    )
    .addOption(
      new Option("--network <address>", "an IP address or network that may use the token; can be repeated")
        .argParser(addNetwork)
        .default([], "any"),
    )
    .action(async ({ email, name, scope, expiresIn, network }: CreateOptions) => {
      await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
        const user = await getUser(accounts, email);
        const scopes = scope.length === 0 ? allScopes : scope;
        const made = await accounts.createToken(user.id, name, { scopes, expiresInDays: expiresIn, networks: network });
        const revoke = `token revoke --email ${user.email} --id ${made.apiToken.id}`;
        await printOnce(`${made.token}\n`, `Nobody has seen the token: end it with "${revoke}".`, io);
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

/** Scripts count the columns, so new ones are appended. */
const columns: readonly (readonly [string, (token: ApiToken) => string])[] = [
  ["id", ({ id }) => String(id)],
  ["name", ({ name }) => name],
  ["created", ({ createdAt }) => timeText(createdAt)],
  ["last used", ({ lastUsedAt }) => timeText(lastUsedAt)],
  ["revoked", ({ revokedAt }) => timeText(revokedAt)],
  ["last used from", ({ lastUsedAddress }) => lastUsedAddress ?? "-"],
  ["scopes", ({ scopes }) => scopes.join(" ")],
  ["expires", ({ expiresAt }) => timeText(expiresAt)],
  ["networks", ({ networks }) => (networks.length === 0 ? "-" : networks.join(" "))],
];

function timeText(at: number | null): string {
  return at === null ? "-" : new Date(at).toISOString();
}

function addList(token: Command, { io }: CommandDeps): void {
  token
    .command("list")
    .description("List a user's API tokens, newest first, in columns separated by tabs. Times are in UTC.")
    .requiredOption("--email <address>", "the user")
    .action(async ({ email }: { readonly email: string }) => {
      await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
        const user = await getUser(accounts, email);
        io.stdout(`${columns.map(([header]) => header).join("\t")}\n`);
        for (const apiToken of await accounts.listTokens(user.id)) {
          io.stdout(`${columns.map(([, textOf]) => textOf(apiToken)).join("\t")}\n`);
        }
      });
    });
}

interface RevokeOptions {
  readonly email: string;
  readonly id?: number;
  readonly name?: string;
}

function addRevoke(token: Command, { io }: CommandDeps): void {
  const command = token
    .command("revoke")
    .description("Revoke API tokens. A running server rejects them immediately.")
    .requiredOption("--email <address>", "the user")
    .addOption(new Option("--id <number>", 'the token\'s id, as in "token list"').argParser(parseId).conflicts("name"))
    .option("--name <name>", "the token's name; revokes all of the user's tokens in use with this name");
  command.action(async ({ email, id, name }: RevokeOptions) => {
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
