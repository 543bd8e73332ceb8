import type { Command } from "commander";
import type { Accounts, Administrator, Change, FactorReset } from "../accounts/accounts.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { getUser } from "./get-user.ts";
import { withAccounts } from "./open-store.ts";
import { getConfig } from "./settings.ts";

/** Who acts from a shell, as the administrators' trail names him. */
export const shell: Administrator = { userId: null, email: "shell", address: "" };

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
    description: "Make an administrator a user like others. The last one stays.",
    done: "is no administrator",
    apply: (accounts, userId) => accounts.setAdmin(userId, false, shell),
  },
  {
    command: "disable",
    description: "Shut a user out: sessions end, tokens are refused, pushes and links stay.",
    done: "is disabled",
    apply: (accounts, userId) => accounts.setDisabled(userId, true, shell),
  },
  {
    command: "enable",
    description: "Let a disabled user in again.",
    done: "is enabled",
    apply: (accounts, userId) => accounts.setDisabled(userId, false, shell),
  },
  {
    command: "reset-factors",
    description: "Remove authenticator app, passkeys and backup codes of a user, and end all sessions.",
    done: "has no second factor, and is signed out everywhere",
    apply: (accounts, userId) => accounts.resetFactors(userId, shell),
  },
];

/** `user promote`, `demote`, `disable`, `enable` and `reset-factors`: alike but for what they do. */
export function addUserChanges(user: Command, { io }: CommandDeps): void {
  for (const { command, description, done, apply } of changes) {
    user
      .command(command)
      .description(description)
      .requiredOption("--email <address>", "the user")
      .addHelpText("after", exitCodesHelp)
      .action(async ({ email }: { readonly email: string }) => {
        await withAccounts(getConfig(io), io, "refuse", async (accounts) => {
          const { id } = await getUser(accounts, email);
          assertDone(await apply(accounts, id));
          io.stdout(`User ${id} ${done}.\n`);
        });
      });
  }
}

/** @throws CommandRefused with a sentence when nothing was changed. */
export function assertDone(change: Change | FactorReset): void {
  switch (change.outcome) {
    case "done":
      return;
    case "last_admin":
      throw new CommandRefused("This is the last administrator: make somebody else one first.");
    case "no_factors":
      throw new CommandRefused("The user has no second factor.");
    case "unknown":
      throw new CommandRefused("The user has just been deleted.");
  }
}
