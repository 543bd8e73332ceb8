import type { Command } from "commander";
import { byteSize, duration, type ValueType } from "../config/value-types.ts";
import type { Domain } from "../domain.ts";
import { runBulkEndings } from "../pushes/maintenance/bulk-endings.ts";
import { type BulkEndingFilter, describeBulkEnding, isRestricted, readEndingNetwork } from "../pushes/pushes.ts";
import { type CliIo, type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { refuseWithoutData, shell, withDomain } from "./open-domain.ts";
import { getConfig } from "./settings.ts";

const hundredYearsMs = 36_500 * 86_400_000;
const age = duration({
  minMs: 1_000,
  maxMs: hundredYearsMs,
  plainNumber: "seconds",
  allowed: "a time such as 2 hours or 30 days, up to 100 years",
});
const size = byteSize({ min: 1, max: 1024 ** 5, allowed: "from 1 to 1024TiB" });

interface EndOptions {
  readonly fromNetwork?: string;
  readonly olderThan?: string;
  readonly largerThan?: string;
  readonly anonymous?: true;
  readonly owned?: true;
  readonly dryRun?: true;
  readonly yes?: true;
}

export function addPushesCommands(program: Command, { io }: CommandDeps): void {
  program
    .command("pushes")
    .description("Manage pushes.")
    .command("end")
    .description("End all active pushes that match every given option. Their secrets are destroyed for good.")
    .option("--from-network <network>", "created from this address or CIDR network")
    .option("--older-than <time>", "created longer ago than this, such as '2 hours' or '30 days'")
    .option("--larger-than <size>", "with more bytes of text and files than this, such as 10MiB")
    .option("--anonymous", "only pushes without an owner")
    .option("--owned", "only pushes with an owner")
    .option("--dry-run", "only print how many pushes match, and end none")
    .option("--yes", "confirm; without it, nothing is ended")
    .addHelpText(
      "after",
      `${exitCodesHelp}\nA command that is interrupted is continued by the server. Owned pushes keep their audit trails.`,
    )
    .action(async (options: EndOptions) => {
      const filter = filterOf(options);
      const config = getConfig(io);
      await refuseWithoutData(config, io);
      await withDomain(config, io, async (domain) => {
        const { count, bytes, isComplete } = await domain.pushes.previewBulkEnding(filter);
        io.stdout(`${isComplete ? "" : "At least "}${count} pushes match, with ${bytes} bytes.\n`);
        if (options.dryRun === true) return;
        if (options.yes !== true) {
          throw new CommandRefused("Nothing was ended. This cannot be undone: confirm with --yes.");
        }
        await endAll(domain, filter, io);
      });
    });
}

async function endAll({ accounts, pushes, store }: Domain, filter: BulkEndingFilter, io: CliIo): Promise<void> {
  const entry = accounts.adminEntry("ended_pushes", describeBulkEnding(filter), shell);
  const id = await pushes.startBulkEnding(filter, { user: null, address: shell.address, userAgent: "" }, entry);
  const { clock, monotonicMs, pause } = io;
  const signal = io.interruption();
  for (;;) {
    await runBulkEndings({ store, clock, monotonicMs, pause }, signal);
    const request = await store.bulkEndings.find(id);
    if (request === undefined) throw new Error(`The request ${id} is not recorded.`);
    if (request.finishedAt !== null) {
      io.stdout(`${request.ended} pushes have ended, with ${request.endedBytes} bytes.\n`);
      return;
    }
    if (signal.aborted) {
      throw new CommandRefused(`Interrupted after ${request.ended} pushes. The server ends the others.`);
    }
    // The server works on it at the moment.
    await pause(100);
  }
}

/** @throws CommandRefused for an invalid option, or if none restricts which pushes are meant. */
function filterOf(options: EndOptions): BulkEndingFilter {
  const { fromNetwork, olderThan, largerThan, anonymous, owned } = options;
  const network = fromNetwork === undefined ? "" : readEndingNetwork(fromNetwork.trim());
  if (network === undefined) throw new CommandRefused("--from-network must be an IP address or a CIDR network.");
  if (anonymous === true && owned === true) throw new CommandRefused("Give either --anonymous or --owned.");
  const owner = owned === true ? "owned" : "all";
  const filter: BulkEndingFilter = {
    network,
    olderThanMs: read("--older-than", age, olderThan),
    largerThanBytes: read("--larger-than", size, largerThan),
    owners: anonymous === true ? "anonymous" : owner,
  };
  if (!isRestricted(filter)) {
    throw new CommandRefused("Say which pushes: --from-network, --older-than, --larger-than, --anonymous or --owned.");
  }
  return filter;
}

function read(option: string, type: ValueType<number>, text: string | undefined): number {
  if (text === undefined) return 0;
  const parsed = type.parse(text.trim());
  if (!parsed.ok) throw new CommandRefused(`${option} must be ${type.allowed}.`);
  return parsed.value;
}
