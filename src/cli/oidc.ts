import type { Command } from "commander";
import type { Accounts } from "../accounts/accounts.ts";
import type { Config, SingleSignOnSettings } from "../config/config.ts";
import { isGoogle, isMicrosoft } from "../config/issuers.ts";
import { type CliIo, type CommandDeps, exitCodes } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { shell, withAccounts } from "./open-domain.ts";
import { getConfig } from "./settings.ts";
import { allUsers } from "./user.ts";

export function addOidcCommands(program: Command, deps: CommandDeps): void {
  const oidc = program.command("oidc").description("Single sign-on with OpenID Connect.");
  addCheck(oidc, deps);
  const user = program.commands.find((command) => command.name() === "user");
  if (user !== undefined) addRelink(user, deps);
}

type Facts = Awaited<ReturnType<Accounts["signOnFacts"]>>;
type Outlook = readonly [result: "linked" | "will be linked" | "asked" | "refused" | "locked out", reason: string];

function addCheck(oidc: Command, { io, setExitCode }: CommandDeps): void {
  oidc
    .command("check")
    .description(
      "Print what happens to each account where single sign-on is the only way in (PWP__OIDC__ONLY), before it is set: address, result " +
        "and reason, separated by tabs. Changes nothing. Fails if anybody is locked out, or no administrator can sign in.",
    )
    .action(async () => {
      const config = getConfig(io);
      const settings = getSingleSignOn(config);
      await withAccounts(config, io, "refuse", async (accounts) => {
        if (await printOutlooks(accounts, config, settings, io)) setExitCode(exitCodes.failed);
      });
    });
}

function getSingleSignOn({ singleSignOn }: Config): SingleSignOnSettings {
  if (singleSignOn === undefined) {
    throw new CommandRefused(
      "Single sign-on is off: it needs PWP__OIDC__ISSUER, PWP__OIDC__CLIENT_ID and PWP__OVERRIDE_BASE_URL.",
    );
  }
  return singleSignOn;
}

/** @returns whether somebody is locked out, or no administrator can sign in. */
async function printOutlooks(
  accounts: Accounts,
  config: Config,
  settings: SingleSignOnSettings,
  io: CliIo,
): Promise<boolean> {
  let lockedOut = 0;
  let admins = 0;
  for await (const { user } of allUsers(accounts, "")) {
    const facts = await accounts.signOnFacts(user, settings.issuer);
    const [result, reason] = outlookOf(facts, config, settings);
    if (result === "locked out") lockedOut += 1;
    else if (user.admin && result !== "refused") admins += 1;
    const mark = facts.isBreakGlass ? " It is marked for break-glass." : "";
    io.stdout(`${user.email}\t${result}\t${reason}${mark}\n`);
  }
  if (settings.userGroup !== undefined) {
    io.stderr(
      `Only the provider knows who is in the group ${settings.userGroup} (PWP__OIDC__USER_GROUP): others are refused.\n`,
    );
  }
  if (lockedOut > 0) io.stderr(`Locked out: ${lockedOut}.\n`);
  const hasNoAdmin = admins === 0 && settings.adminGroup === undefined;
  if (hasNoAdmin) io.stderr("No administrator can sign in.\n");
  return lockedOut > 0 || hasNoAdmin;
}

function outlookOf(facts: Facts, config: Config, settings: SingleSignOnSettings): Outlook {
  const { user } = facts;
  const { allowedDomains, issuer } = settings;
  if (user.disabledAt !== null) return ["refused", "The account is disabled."];
  const domain = user.email.slice(user.email.lastIndexOf("@") + 1);
  if (allowedDomains.length > 0 && !isGoogle(issuer) && !facts.isLinked && !allowedDomains.includes(domain)) {
    return ["refused", "The domain of its address is not in PWP__OIDC__ALLOWED_DOMAINS."];
  }
  if (config.accounts.requiresConfirmation && user.confirmedAt === null) {
    return ["locked out", 'Its address is not confirmed: use "user confirm".'];
  }
  if (facts.isLinked) return ["linked", "An identity of this provider is linked."];
  if (facts.isUnused) return ["will be linked", "Nobody has used the account: it is linked without a question."];
  const mails = config.mail !== undefined;
  if (user.hasPassword)
    return ["asked", `For its password${mails ? ", or a link that is mailed to the address" : ""}.`];
  if (mails) return ["asked", "For a link that is mailed to the address."];
  return ["locked out", 'It has no password, and this server sends no emails: use "user set-password".'];
}

/** In the group of commands for users. */
function addRelink(user: Command, { io }: CommandDeps): void {
  user
    .command("relink")
    .description(
      "After a change of the client id at Microsoft Entra ID, which changes every subject: let the next sign-on of each person move the " +
        "identity, by its object id (oid). Without --yes it only prints whose.",
    )
    .option("--yes", "confirm; without it, nothing is changed")
    .action(async ({ yes }: { readonly yes?: true }) => {
      const config = getConfig(io);
      const { issuer } = getSingleSignOn(config);
      if (!isMicrosoft(issuer)) {
        throw new CommandRefused(
          "Only Microsoft Entra ID changes subjects with the client id: there is nothing to move.",
        );
      }
      await withAccounts(config, io, "refuse", async (accounts) => {
        for (const { userId, moves } of await accounts.listRelinkable(issuer)) {
          const email = (await accounts.findUser(userId))?.email ?? String(userId);
          io.stdout(`${email}\t${moves ? "moves" : "must be linked again: its object id is not known"}\n`);
        }
        if (yes !== true) throw new CommandRefused("Nothing was changed: confirm with --yes.");
        io.stdout(`Identities that may move: ${await accounts.allowRelinking(issuer, shell)}.\n`);
      });
    });
}
