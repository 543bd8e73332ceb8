import type { Command } from "commander";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { getUser } from "./get-user.ts";
import { refuseWithoutData, withDomain } from "./open-store.ts";
import { getConfig } from "./settings.ts";
import { assertDone, shell } from "./user-change.ts";

interface Options {
  readonly email: string;
  readonly yes?: true;
}

export function addUserDelete(user: Command, { io }: CommandDeps): void {
  user
    .command("delete")
    .description("Delete a user: the account goes, its pushes end at once, its links no longer open.")
    .requiredOption("--email <address>", "the user")
    .option("--yes", "without it, nothing is deleted")
    .addHelpText("after", exitCodesHelp)
    .action(async ({ email, yes }: Options) => {
      const config = getConfig(io);
      await refuseWithoutData(config, io);
      if (yes !== true) throw new CommandRefused("Nothing was deleted: this cannot be undone, so say --yes.");
      await withDomain(config, io, async (domain) => {
        const { id } = await getUser(domain.accounts, email);
        assertDone(await domain.deleteAccount(id, shell));
        io.stdout(`User ${id} is deleted, and the user's pushes have ended.\n`);
      });
    });
}
