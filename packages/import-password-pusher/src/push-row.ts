import type {
  Holdings,
  Lack,
  PushPart,
  SourceFile,
  SourceKind,
  SourcePush,
  SourceRow,
} from "../../../src/import/source.ts";
import { textOf, timeOf, truthOf, wholeNumberOf } from "./cells.ts";
import type { Findings } from "./findings.ts";
import type { Lockbox } from "./lockbox.ts";
import { endOf } from "./push-state.ts";
import type { SourceQueries } from "./store/queries.ts";
import type { Cell, SourceRecord } from "./store/source-rows.ts";

export interface PushReading {
  readonly queries: Pick<
    SourceQueries,
    "pushIds" | "pushSizes" | "pushes" | "entryCounts" | "notificationCounts" | "files" | "countedViewAt"
  >;
  readonly lockbox: Lockbox;
  readonly findings: Findings;
  /** The first push of each link that several have: it leads there, and the others are not reached by it. */
  readonly firstOfLink: ReadonlyMap<string, number>;
  /** Decides what has ended: the same for all pushes of a reading. */
  readonly now: number;
}

export interface TrailSummary {
  readonly countedViews: number;
  readonly deletedAt: Cell;
  readonly entries: number;
}

export interface FoundPush {
  readonly id: number;
  readonly record: SourceRecord;
  readonly trail: TrailSummary;
  /** A number: an attachment of which there is no file on record. */
  readonly files: readonly (SourceFile | number)[];
  readonly holdings: Holdings;
}

const kinds: readonly SourceKind[] = ["text", "file", "url", "qr"];
/** What the source takes for a row without limits; it was its default. */
const daysWithoutLimit = 7;
const viewsWithoutLimit = 5;

/**
 * What is not guessed when it cannot be read: it would give more than was meant, or take a push from its owner. NULL has a
 * meaning in each.
 */
const decisive = [
  ["user_id", "Who owns it", wholeNumberOf],
  ["expire_after_days", "How many days it has", wholeNumberOf],
  ["expire_after_views", "How many views it has", wholeNumberOf],
  ["expired", "Whether it has ended", truthOf],
  ["deletable_by_viewer", "Whether viewers may delete it", truthOf],
  ["retrieval_step", "Whether it has a retrieval step", truthOf],
] as const;

/** One push with its state and, while it lives, its content. What cannot be opened is told without what it holds. */
export async function pushOf(reading: PushReading, found: FoundPush): Promise<SourceRow<SourcePush, PushPart>> {
  const { id, record, trail, holdings } = found;
  const unreadable = (reason: string) => ({ outcome: "unreadable" as const, id, holdings, reason });
  const urlToken = textOf(record.url_token) ?? "";
  if (urlToken === "") {
    return { outcome: "skipped", id, holdings, reason: "It has no url_token, so no link leads to it." };
  }
  const first = reading.firstOfLink.get(urlToken);
  if (first !== undefined && first !== id) return unreadable(`The push ${first} has the same link.`);
  const kindNumber = wholeNumberOf(record.kind);
  const kind = kinds[kindNumber ?? -1];
  if (kind === undefined)
    return unreadable(`Its kind ${kindNumber === undefined ? "" : `${kindNumber} `}is not known.`);
  const createdAt = timeOf(record.created_at);
  if (createdAt === undefined) return unreadable("When it was made (created_at) cannot be read.");
  const damaged = decisive.find(
    ([column, , read]) => textOf(record[column]) !== null && read(record[column]) === undefined,
  );
  if (damaged !== undefined) return unreadable(`${damaged[1]} (${damaged[0]}) cannot be read.`);

  const lacks: Lack<PushPart>[] = [];
  const end = await endIn(reading, found, createdAt);
  const opener = openerOf(reading, found);
  const content = end === null ? contentOf(opener, found, lacks) : null;
  const note = noteOf(opener, lacks);
  if (opener.underDefaultKey()) reading.findings.note("pushUnderDefaultKey", id);
  if (typeof content === "string") return unreadable(content);
  const row: SourcePush = {
    ...{ id, kind, urlToken, end, createdAt },
    userId: wholeNumberOf(record.user_id) ?? null,
    name: textOf(record.name),
    note,
    open: content,
    ...limitsOf(record),
    countedViews: trail.countedViews,
    deletableByViewer: truthOf(record.deletable_by_viewer) === true,
    retrievalStep: truthOf(record.retrieval_step) === true,
    updatedAt: timeOf(record.updated_at) ?? createdAt,
  };
  return { outcome: "read", id, holdings, row, lacks };
}

function limitsOf(record: SourceRecord): Pick<SourcePush, "expireAfterDays" | "expireAfterViews"> {
  return {
    expireAfterDays: wholeNumberOf(record.expire_after_days) ?? daysWithoutLimit,
    expireAfterViews: wholeNumberOf(record.expire_after_views) ?? viewsWithoutLimit,
  };
}

async function endIn(
  { queries, now }: PushReading,
  { id, record, trail }: FoundPush,
  createdAt: number,
): Promise<SourcePush["end"]> {
  const limits = limitsOf(record);
  const { countedViews } = trail;
  const expiredOn = timeOf(record.expired_on);
  const viewsUsed = countedViews >= limits.expireAfterViews && limits.expireAfterViews > 0;
  return endOf(
    {
      ...limits,
      ...{ countedViews, expiredOn, createdAt },
      expired: truthOf(record.expired) === true,
      deletedAt: timeOf(trail.deletedAt),
      lastViewAt:
        viewsUsed && expiredOn === undefined
          ? timeOf(await queries.countedViewAt(id, limits.expireAfterViews))
          : undefined,
      updatedAt: timeOf(record.updated_at) ?? createdAt,
    },
    now,
  );
}

/** @returns why it is unreadable, if it is: without payload or passphrase a push cannot be given to anybody. */
function contentOf(
  { open }: Opener,
  { files }: FoundPush,
  lacks: Lack<PushPart>[],
): NonNullable<SourcePush["open"]> | string {
  const payload = open("payload_ciphertext");
  if (payload === undefined) return "No key opens its payload.";
  const passphrase = open("passphrase_ciphertext");
  if (passphrase === undefined) return "No key opens its passphrase.";
  for (const file of files) {
    if (typeof file !== "number") continue;
    lacks.push({ part: "files", reason: `Its attachment ${file} has no file on record.` });
  }
  return {
    payload: payload ?? "",
    // The source asks for one only if it has something else than white space.
    passphrase: passphrase !== null && /\P{White_Space}/u.test(passphrase) ? passphrase : null,
    files: files.filter((file) => typeof file !== "number"),
  };
}

/** It belongs to the owner's history: a push goes on without it. */
function noteOf({ open }: Opener, lacks: Lack<PushPart>[]): string | null {
  const note = open("note_ciphertext");
  if (note !== undefined) return note;
  lacks.push({ part: "note", reason: "No key opens its note: it comes without." });
  return null;
}

interface Opener {
  /** NULL and "" are stored as they are. undefined: no key opens it. */
  open(column: "payload_ciphertext" | "note_ciphertext" | "passphrase_ciphertext"): string | null | undefined;
  /** Whether the published default key has opened any of them. */
  underDefaultKey(): boolean;
}

function openerOf({ lockbox }: PushReading, { record }: FoundPush): Opener {
  let underDefaultKey = false;
  return {
    open(column) {
      const sealed = textOf(record[column]);
      if (sealed === null || sealed === "") return sealed;
      const opening = lockbox.open({ table: "pushes", column }, sealed);
      if (opening.outcome === "unreadable") return undefined;
      if (opening.underDefaultKey) underDefaultKey = true;
      return opening.text;
    },
    underDefaultKey: () => underDefaultKey,
  };
}
