import type { Part } from "./lacks.ts";
import { type Holdings, noHoldings } from "./source.ts";
import type { Behind, Tally } from "./tally.ts";

/** Why rows beside a push are not here. */
type Why = Readonly<Record<keyof Holdings, Pick<Behind, "effect" | "reason">>>;

function allOf(effect: Behind["effect"], reason: string): Why {
  const why = { effect, reason };
  return { auditEntries: why, notifications: why, files: why };
}

const withLeftOut = allOf("leftOut", "They belong to pushes that are left out.");
const withSkipped = allOf("skipped", "They belong to pushes that are skipped.");
const ofNoPush = allOf("skipped", "They belong to no push that is there.");
const notCounted = allOf("leftOut", "They belong to pushes that the database cannot read.");

const unreadReason = "They cannot be read, are missing or damaged, or came to be after their push had come along.";

/** Beside a push that did not come. @param there undefined: nobody could count it. */
export function countBehind(tally: Tally, effect: Behind["effect"], there: Holdings | undefined): void {
  if (there === undefined) tally.uncounted += 1;
  else addRest(tally, there, noHoldings, effect === "skipped" ? withSkipped : withLeftOut);
}

/** Beside a push that came. */
export function countWith(
  tally: Tally,
  push: {
    /** undefined: nobody could count it. */
    readonly there: Holdings | undefined;
    /** All that is here of it, of whatever run. */
    readonly here: Holdings;
    /** How much of that came in this run. */
    readonly now: Holdings;
    readonly lacks: readonly Part[];
    readonly isOwned: boolean;
  },
): void {
  const { there, here, now, lacks, isOwned } = push;
  for (const table of tables) {
    tally.counts[table].brought += now[table];
    tally.counts[table].known += here[table] - now[table];
  }
  if (there === undefined) {
    tally.uncounted += 1;
    return;
  }
  const unread = { effect: "leftOut", reason: unreadReason } as const;
  const ownerless = { effect: "skipped", reason: "Nobody owns their push: nobody could ever see them." } as const;
  const ended = { effect: "skipped", reason: "Their push had ended." } as const;
  const isTold = here.auditEntries > 0 || lacks.includes("trail");
  addRest(tally, there, here, {
    auditEntries: isTold || isOwned ? unread : ownerless,
    notifications: isOwned ? unread : ownerless,
    files: lacks.includes("files") ? unread : ended,
  });
}

/** What no push has told of. @param there all that there is. */
export function countRest(tally: Tally, there: Holdings, withoutPush: Holdings): void {
  addRest(tally, withoutPush, noHoldings, ofNoPush);
  if (tally.uncounted > 0) addRest(tally, there, countedOf(tally), notCounted);
}

const tables = ["auditEntries", "notifications", "files"] as const satisfies (keyof Holdings)[];

function countedOf({ counts }: Tally): Holdings {
  const sum = (table: keyof Holdings) => {
    const { brought, known, leftOut, skipped } = counts[table];
    return brought + known + leftOut + skipped;
  };
  return { auditEntries: sum("auditEntries"), notifications: sum("notifications"), files: sum("files") };
}

function addRest(tally: Tally, there: Holdings, here: Holdings, why: Why): void {
  for (const table of tables) {
    const { effect, reason } = why[table];
    tally.stayBehind(table, effect, reason, Math.max(there[table] - here[table], 0));
  }
}
