import type { Command } from "commander";
import { byteSize, duration, type ValueType } from "../config/value-types.ts";
import type { Domain } from "../domain.ts";
import { runBulkEndings } from "../pushes/maintenance/bulk-endings.ts";
import {
  type BulkEndingFilter,
  describeBulkEnding,
  isRestricted,
  readEndingNetwork,
  shellActor,
  type TrailEvent,
} from "../pushes/pushes.ts";
import type { CliIo, CommandDeps } from "./cli-io.ts";
import { CommandRefused, WrongSettings } from "./errors.ts";
import { refuseWithoutData, shell, withData, withDomain } from "./open-domain.ts";
import { readLine } from "./read-line.ts";
import { getConfig } from "./settings.ts";

const hundredYearsMs = 36_500 * 86_400_000;
const age = duration({
  minMs: 1_000,
  maxMs: hundredYearsMs,
  plainNumber: "seconds",
  allowed: "a time such as 2 hours or 30 days, up to 100 years",
});
const size = byteSize({ min: 1, max: 1024 ** 5, allowed: "from 1 to 1024TiB" });

interface EndOptions extends OnePush {
  readonly fromNetwork?: string;
  readonly olderThan?: string;
  readonly largerThan?: string;
  readonly anonymous?: true;
  readonly owned?: true;
  readonly dryRun?: true;
  readonly yes?: true;
}

export function addPushesCommands(program: Command, deps: CommandDeps): void {
  const pushes = program.command("pushes").description("Manage pushes.");
  addEnd(pushes, deps);
  addAudit(pushes, deps);
  addDelete(pushes, deps);
}

const idOption = ["--id <number>", "the push with this id"] as const;
const linkOption = ["--link-stdin", "the push whose link is read from standard input, one line"] as const;

interface OnePush {
  readonly id?: string;
  readonly linkStdin?: true;
}

/** @throws WrongSettings unless exactly one push is named; CommandRefused if it does not exist. */
async function findOne({ id, linkStdin }: OnePush, { pushes }: Domain, io: CliIo): Promise<number> {
  if ((id === undefined) === (linkStdin === undefined)) throw new WrongSettings(["Give either --id or --link-stdin."]);
  if (id === undefined) {
    const found = await pushes.findIdByLink(await readLine(io, "link"));
    if (found === undefined) throw new CommandRefused("No push has this link.");
    return found;
  }
  if (!/^[1-9]\d{0,14}$/.test(id)) throw new WrongSettings(["--id must be the number of a push."]);
  return Number(id);
}

const unknownPush = () => new CommandRefused("There is no push with this id.");
const trailHeader = ["time", "kind", "by", "times", "address", "user agent", "referrer"];

function addAudit(pushes: Command, { io }: CommandDeps): void {
  pushes
    .command("audit")
    .description("Print the audit trail of one push, newest first, in columns separated by tabs. Never its content.")
    .option(...idOption)
    .option(...linkOption)
    .option("--json", "one JSON object per line instead of columns")
    .addHelpText("after", `\nThe administrators' audit trail records this.`)
    .action((options: OnePush & { readonly json?: true }) => withData(io, (domain) => printTrail(domain, options, io)));
}

async function printTrail(domain: Domain, options: OnePush & { readonly json?: true }, io: CliIo): Promise<void> {
  const id = await findOne(options, domain, io);
  const lineOf = (event: TrailEvent) => (options.json === true ? JSON.stringify(event) : columnsOf(event).join("\t"));
  for (let page = 1; ; page += 1) {
    const trail = await domain.pushes.adminTrail(id, shellActor, page);
    if (trail === undefined) throw unknownPush();
    if (page === 1) {
      await domain.accounts.recordAccess("read_trail", String(id), shell);
      if (options.json !== true) io.stdout(`${trailHeader.join("\t")}\n`);
    }
    for (const event of trail.events) io.stdout(`${lineOf(event)}\n`);
    if (!trail.hasMore) return;
  }
}

function columnsOf(event: TrailEvent): string[] {
  const time = new Date(event.updatedAt).toISOString();
  if (event.kind === "limit") return [time, `ended by ${event.reason}`, "-", "1", "-", "-", "-"];
  const { kind, by, times, address, userAgent, referrer } = event;
  return [time, kind, by, String(times), address, userAgent, referrer].map((text) => printable(text));
}

/** Clients choose these texts: control characters could move the cursor of a terminal. */
function printable(text: string): string {
  return text === "" ? "-" : text.replace(/\p{C}/gu, "\ufffd");
}

function addDelete(pushes: Command, { io }: CommandDeps): void {
  pushes
    .command("delete")
    .description("Delete the record of one push, with its audit trail. An active push ends first.")
    .option(...idOption)
    .option(...linkOption)
    .option("--yes", "confirm; without it, nothing is deleted")
    .action(async (options: OnePush & { readonly yes?: true }) => {
      await withData(io, async (domain) => {
        const id = await findOne(options, domain, io);
        if (options.yes !== true) {
          throw new CommandRefused("Nothing was deleted. This cannot be undone: confirm with --yes.");
        }
        const entry = domain.accounts.adminEntry("deleted_push", String(id), shell);
        if (!(await domain.pushes.removeAsAdministrator(id, shellActor, entry))) throw unknownPush();
        io.stdout(`Push ${id} is deleted.\n`);
      });
    });
}

async function endOne(domain: Domain, options: EndOptions, io: CliIo): Promise<void> {
  const id = await findOne(options, domain, io);
  if (options.yes !== true) throw new CommandRefused("Nothing was ended. This cannot be undone: confirm with --yes.");
  const entry = domain.accounts.adminEntry("ended_push", String(id), shell);
  const outcome = await domain.pushes.endAsAdministrator(id, shellActor, entry);
  if (outcome === "unknown") throw unknownPush();
  io.stdout(outcome === "ended" ? `Push ${id} has ended.\n` : `Push ${id} had ended before.\n`);
}

function addEnd(pushes: Command, { io }: CommandDeps): void {
  pushes
    .command("end")
    .description("End one push, or all active pushes that match every given option. Secrets are destroyed for good.")
    .option(...idOption)
    .option(...linkOption)
    .option("--from-network <network>", "created from this address or CIDR network")
    .option("--older-than <time>", "created longer ago than this, such as '2 hours' or '30 days'")
    .option("--larger-than <size>", "with more bytes of text and files than this, such as 10MiB")
    .option("--anonymous", "only pushes without an owner")
    .option("--owned", "only pushes with an owner")
    .option("--dry-run", "only print how many pushes match, and end none")
    .option("--yes", "confirm; without it, nothing is ended")
    .addHelpText(
      "after",
      `\nA command that is interrupted is continued by the server. Owned pushes keep their audit trails.`,
    )
    .action(async (options: EndOptions) => {
      const isOne = options.id !== undefined || options.linkStdin === true;
      if (isOne && isFiltered(options)) throw new WrongSettings(["Name one push, or say which pushes: not both."]);
      if (isOne && options.dryRun === true) throw new WrongSettings(["--dry-run is for several pushes."]);
      const config = getConfig(io);
      if (isOne) {
        await refuseWithoutData(config, io);
        await withDomain(config, io, (domain) => endOne(domain, options, io));
        return;
      }
      const filter = filterOf(options);
      await refuseWithoutData(config, io);
      await withDomain(config, io, async (domain) => {
        const { count, bytes, isComplete } = await domain.pushes.previewBulkEnding(filter);
        io.stdout(`Matching pushes: ${isComplete ? "" : "at least "}${count}, with ${bytes} bytes.\n`);
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
      io.stdout(`Ended pushes: ${request.ended}, with ${request.endedBytes} bytes.\n`);
      return;
    }
    if (signal.aborted) {
      throw new CommandRefused(`Interrupted. Ended pushes: ${request.ended}. The server ends the others.`);
    }
    // The server works on it at the moment.
    await pause(100);
  }
}

function isFiltered({ fromNetwork, olderThan, largerThan, anonymous, owned }: EndOptions): boolean {
  return [fromNetwork, olderThan, largerThan, anonymous, owned].some((option) => option !== undefined);
}

/** @throws WrongSettings for an invalid option, or if none restricts which pushes are meant. */
function filterOf(options: EndOptions): BulkEndingFilter {
  const { fromNetwork, olderThan, largerThan, anonymous, owned } = options;
  const network = fromNetwork === undefined ? "" : readEndingNetwork(fromNetwork.trim());
  if (network === undefined) throw new WrongSettings(["--from-network must be an IP address or a CIDR network."]);
  if (anonymous === true && owned === true) throw new WrongSettings(["Give either --anonymous or --owned."]);
  const owner = owned === true ? "owned" : "all";
  const filter: BulkEndingFilter = {
    network,
    olderThanMs: read("--older-than", age, olderThan),
    largerThanBytes: read("--larger-than", size, largerThan),
    owners: anonymous === true ? "anonymous" : owner,
  };
  if (!isRestricted(filter)) {
    throw new WrongSettings(["Say which pushes: --from-network, --older-than, --larger-than, --anonymous or --owned."]);
  }
  return filter;
}

function read(option: string, type: ValueType<number>, text: string | undefined): number {
  if (text === undefined) return 0;
  const parsed = type.parse(text.trim());
  if (!parsed.ok) throw new WrongSettings([`${option} must be ${type.allowed}.`]);
  return parsed.value;
}
