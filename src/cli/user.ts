import { type Command, Option } from "commander";
import {
  type Accounts,
  breakGlassPath,
  type Change,
  type FactorReset,
  type User,
  type UserSummary,
} from "../accounts/accounts.ts";
import { passwordSentences } from "../accounts/sign-in/password-rules.ts";
import type { CommandDeps } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { mailIsOff } from "./mail.ts";
import { getUser, refuseWithoutData, shell, withAccounts, withDomain } from "./open-domain.ts";
import { printOnce } from "./print-once.ts";
import { readLine } from "./read-line.ts";
import { getConfig } from "./settings.ts";

const breakGlassRefusals = {
  no_admin: "The user is no administrator: promote them first, or name another user.",
  disabled: "The user is disabled: enable them first, or name another user.",
  logins_disabled: "Sign-in is turned off on this server (PWP__DISABLE_LOGINS).",
} as const;

function addBreakGlass(user: Command, { io }: CommandDeps): void {
  user
    .command("break-glass")
    .description(
      "Print a link that signs in as this administrator without single sign-on, once, within 15 minutes. All administrators get an " +
        "email now and when it is used, and SCIM leaves the account alone from now on.",
    )
    .argument("<address>", "the administrator's email address")
    .action(async (email: string) => {
      const config = getConfig(io);
      await withAccounts(config, io, "refuse", async (accounts) => {
        const found = await getUser(accounts, email);
        const link = await accounts.makeBreakGlassLink(found.id, shell);
        if (link.outcome !== "made") throw new CommandRefused(breakGlassRefusals[link.outcome]);
        const path = `${breakGlassPath}?token=${link.token}`;
        const base = config.singleSignOn?.baseUrl ?? config.overrideBaseUrl ?? "";
        await printOnce(`${base}${path}\n`, "Make another link, which replaces this one.", io);
        if (base === "") io.stderr("Open this path at the address of the server.\n");
        io.stderr(
          link.informed === 0
            ? "This server sends no emails: tell the other administrators yourself.\n"
            : `Administrators who get an email: ${link.informed}.\n`,
        );
      });
    });
}

const passwordOption = [
  "--password-stdin",
  "read the password (12 to 1024 characters) from standard input, one line",
] as const;

export function addUserCommands(program: Command, deps: CommandDeps): void {
  const user = program.command("user").alias("users").description("Manage users.");
  addCreate(user, deps);
  addList(user, deps);
  addChanges(user, deps);
  addChangeEmail(user, deps);
  addDelete(user, deps);
  addSetPassword(user, deps);
  addBreakGlass(user, deps);
}

function addCreate(user: Command, { io }: CommandDeps): void {
  user
    .command("create")
    .description("Create a user. Works before the server's first start too.")
    .requiredOption("--email <address>", "the email address to sign in with")
    .addOption(new Option(...passwordOption).conflicts(["mailLink", "showPassword"]))
    .addOption(new Option("--mail-link", "mail a link that chooses the password, valid for 3 days"))
    .addOption(new Option("--show-password", "print a random password, once").conflicts("mailLink"))
    .option("--admin", "make the user an administrator")
    .action(async ({ email, ...given }: CreateOptions, command: Command) => {
      const config = getConfig(io);
      const how = passwordSourceOf(given);
      const { signOnOnly } = config.accounts;
      if (signOnOnly && how !== undefined) throw new CommandRefused(noPasswords(sourceFlags[how]));
      if (how === undefined && !signOnOnly)
        command.error(`error: give one of ${Object.values(sourceFlags).join(", ")}`);
      if (how === "mailLink" && config.mail === undefined) throw new CommandRefused(mailIsOff);
      const typed = how === "passwordStdin" ? await readLine(io, "password") : undefined;
      await withAccounts(config, io, "make", async (accounts) => {
        const entryOf = (user: User) => accounts.adminEntry("created_user", user.email, shell);
        const wanted = { email, admin: given.admin === true };
        const password = signOnOnly ? null : (typed ?? accounts.makePassword());
        const made = await (how === "mailLink"
          ? accounts.inviteUser({ ...wanted, language: null }, entryOf)
          : accounts.createUser({ ...wanted, password }, entryOf));
        const created = `Created user ${made.email}${made.admin ? ", an administrator" : ""}.\n`;
        if (how === "showPassword") {
          const shown = `${created}Password, not shown again: ${password}\nAsk the user to change it.\n`;
          return await printOnce(shown, 'The user was created. Set another password with "user set-password".', io);
        }
        io.stdout(created);
        if (signOnOnly) io.stdout("The account is linked at the user's first single sign-on with this address.\n");
        if (how === "mailLink") io.stdout("The server mails the link. It is valid for 3 days and works once.\n");
      });
    });
}

const noPasswords = (flag: string) =>
  `PWP__OIDC__ONLY is on, so accounts have no password here: leave out ${flag}. The user signs on at the provider.`;

/** Where a new user's password comes from: exactly one is given, unless accounts have none. */
const sourceFlags = {
  passwordStdin: "--password-stdin",
  mailLink: "--mail-link",
  showPassword: "--show-password",
} as const;
type PasswordSource = keyof typeof sourceFlags;
type CreateOptions = { readonly email: string; readonly admin?: true } & Partial<
  Readonly<Record<PasswordSource, true>>
>;

function passwordSourceOf(given: Partial<Readonly<Record<PasswordSource, true>>>): PasswordSource | undefined {
  if (given.passwordStdin) return "passwordStdin";
  if (given.mailLink) return "mailLink";
  return given.showPassword ? "showPassword" : undefined;
}

const listHeader = [
  "id",
  "email",
  "administrator",
  "state",
  "two-step sign-in",
  "tokens in use",
  "created",
  "last signed in",
  "sign-ins",
];

function addList(user: Command, { io }: CommandDeps): void {
  user
    .command("list")
    .description("List users, newest first, in columns separated by tabs. Times are in UTC.")
    .option("--search <text>", "only users whose email address contains this text")
    .option("--json", "one JSON object per line instead of columns")
    .action(async ({ search = "", json }: { readonly search?: string; readonly json?: true }) => {
      await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
        if (json !== true) io.stdout(`${listHeader.join("\t")}\n`);
        for await (const summary of allUsers(accounts, search)) {
          const line = json === true ? JSON.stringify(summary) : columnsOf(summary).join("\t");
          io.stdout(`${line}\n`);
        }
      });
    });
}

export async function* allUsers(accounts: Accounts, search: string): AsyncGenerator<UserSummary> {
  for (let page = 1; ; page += 1) {
    const users = await accounts.searchUsers(search, page);
    if (users.length === 0) return;
    yield* users;
  }
}

function columnsOf({ user, tokensInUse, lastSignedInAt, signInCount }: UserSummary): string[] {
  const enabledState = user.confirmedAt === null ? "unconfirmed" : "active";
  return [
    String(user.id),
    user.email,
    user.admin ? "yes" : "no",
    user.disabledAt === null ? enabledState : "disabled",
    user.hasSecondFactor ? "yes" : "no",
    String(tokensInUse),
    new Date(user.createdAt).toISOString(),
    lastSignedInAt === null ? "-" : new Date(lastSignedInAt).toISOString(),
    String(signInCount),
  ];
}

const changes: readonly {
  readonly command: string;
  readonly description: string;
  readonly done: string;
  apply(accounts: Accounts, userId: number): Promise<Change | FactorReset>;
}[] = [
  {
    command: "promote",
    description: "Make a user an administrator.",
    done: "is an administrator",
    apply: (accounts, userId) => accounts.setAdmin(userId, true, shell),
  },
  {
    command: "demote",
    description: "Remove a user's administrator role. The last administrator keeps it.",
    done: "is no longer an administrator",
    apply: (accounts, userId) => accounts.setAdmin(userId, false, shell),
  },
  {
    command: "disable",
    description: "Disable a user: sessions end and tokens are rejected; pushes and their links remain.",
    done: "is disabled",
    apply: (accounts, userId) => accounts.setDisabled(userId, true, shell),
  },
  {
    command: "enable",
    description: "Enable a disabled user.",
    done: "is enabled",
    apply: (accounts, userId) => accounts.setDisabled(userId, false, shell),
  },
  {
    command: "confirm",
    description: "Confirm a user's email address without an email.",
    done: "has a confirmed email address",
    apply: (accounts, userId) => accounts.confirmEmail(userId, shell),
  },
  {
    command: "reset-factors",
    description: "Remove a user's authenticator app, passkeys and backup codes, and end all sessions.",
    done: "has no two-step sign-in, and is signed out everywhere",
    apply: (accounts, userId) => accounts.resetFactors(userId, shell),
  },
];

/** `user promote`, `demote`, `disable`, `enable`, `confirm` and `reset-factors`. */
function addChanges(user: Command, { io }: CommandDeps): void {
  for (const { command, description, done, apply } of changes) {
    user
      .command(command)
      .description(description)
      .requiredOption("--email <address>", "the user")
      .action(async ({ email }: { readonly email: string }) => {
        await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
          const found = await getUser(accounts, email);
          assertDone(await apply(accounts, found.id));
          io.stdout(`User ${found.email} ${done}.\n`);
        });
      });
  }
}

/** @throws CommandRefused with a sentence if nothing was changed. */
function assertDone(change: Change | FactorReset): void {
  switch (change.outcome) {
    case "done":
      return;
    case "last_admin":
      throw new CommandRefused("This is the last administrator: make another user an administrator first.");
    case "no_factors":
      throw new CommandRefused("The user has no two-step sign-in.");
    case "unknown":
      throw new CommandRefused("The user has just been deleted.");
  }
}

const emailRefusals = {
  malformed: "The new address is not an email address.",
  unchanged: "The user has this email address already.",
  taken: "Another user has this email address.",
  unknown: "The user is disabled, or has just been deleted.",
  too_many: "The user was asked too often in the last hour.",
  no_mail: "This server sends no emails of accounts, so it cannot ask.",
} as const;

function addChangeEmail(user: Command, { io }: CommandDeps): void {
  user
    .command("change-email")
    .description(
      "Change a user's email address, which counts as confirmed. Both addresses are notified. The user's lists lose the links " +
        "of pushes and requests, unless the previous address confirms the change: --ask.",
    )
    .requiredOption("--email <address>", "the user")
    .requiredOption("--to <address>", "the new address")
    .option("--ask", "ask the previous address by email; the address changes once it confirms")
    .action(async ({ email, to, ask }: { readonly email: string; readonly to: string; readonly ask?: true }) => {
      await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
        const found = await getUser(accounts, email);
        const client = { throttleKey: "", address: "", userAgent: "" };
        const subject = `${found.email} -> ${to.trim()}`;
        if (ask === true) {
          const entry = accounts.adminEntry("asked_to_change_email", subject, shell);
          const asked = await accounts.askToChangeEmail(found, to, entry);
          if (asked !== "link_sent") throw new CommandRefused(emailRefusals[asked]);
          io.stdout(`User ${found.id} was asked by email.\n`);
          return;
        }
        const entry = accounts.adminEntry("changed_email", subject, shell);
        const outcome = await accounts.changeEmailAsAdministrator(found, to, client, entry);
        if (outcome !== "changed") throw new CommandRefused(emailRefusals[outcome]);
        io.stdout(`User ${found.id} has a new email address.\n`);
      });
    });
}

function addDelete(user: Command, { io }: CommandDeps): void {
  user
    .command("delete")
    .description("Delete a user and end all of the user's pushes at once.")
    .requiredOption("--email <address>", "the user")
    .option("--yes", "confirm; without it, nothing is deleted")
    .action(async ({ email, yes }: { readonly email: string; readonly yes?: true }) => {
      const config = getConfig(io);
      await refuseWithoutData(config, io);
      if (yes !== true) throw new CommandRefused("Nothing was deleted. This cannot be undone: confirm with --yes.");
      await withDomain(config, io, async (domain) => {
        const found = await getUser(domain.accounts, email);
        assertDone(await domain.deleteAccount(found.id, shell));
        io.stdout(`User ${found.email} is deleted, and the user's pushes have ended.\n`);
      });
    });
}

function addSetPassword(user: Command, { io }: CommandDeps): void {
  user
    .command("set-password")
    .description(
      "Set a user's password. All of the user's sessions end and API tokens are revoked; two-step sign-in remains.",
    )
    .requiredOption("--email <address>", "the user")
    .requiredOption(...passwordOption)
    .action(async ({ email }: { readonly email: string }) => {
      const config = getConfig(io);
      const password = await readLine(io, "password");
      await withAccounts(config, io, "refuse", async (accounts) => {
        const found = await getUser(accounts, email);
        const entry = accounts.adminEntry("set_password", found.email, shell);
        const outcome = await accounts.setPassword(found.id, password, entry);
        if (outcome === "unknown_user") throw new CommandRefused("The user has just been deleted.");
        if (outcome !== "changed") throw new CommandRefused(passwordSentences[outcome]);
        io.stdout(`User ${found.email} has a new password and no valid API token, and is signed out everywhere.\n`);
      });
    });
}
