import type { UserAdoption, UserCompletion } from "../accounts/admin/adopt-user.ts";
import { completeImportedPush, type PushCompletion, type PushImportDeps } from "../pushes/create/import-push.ts";
import type { Completion, IncomingPush, IncomingUser } from "./destination.ts";
import { type Part, userPartsOf } from "./lacks.ts";
import { noHoldings } from "./source.ts";
import type { ImportedRow, ImportedRows } from "./store/imported-rows.ts";

/** What the source has of a row that came in part, and what is noted of it, change in one transaction. */
export async function completeUser(
  users: UserAdoption,
  rows: ImportedRows,
  known: ImportedRow,
  { user, lacks }: IncomingUser,
): Promise<Completion> {
  const isKept = (part: Part) => lacks.some((kept) => kept === part);
  const completionOf = ({ filled, superseded, refused }: UserCompletion): Completion => ({
    ...{ outcome: "completed", filled, superseded, tokenTaken: refused.length > 0, holdings: noHoldings },
    lacks: [
      ...known.lacks.filter(isKept),
      ...refused,
      // They hang on the factor, and were not looked at while it could not be opened.
      ...(filled.includes("factor") ? lacks.filter((part) => part === "password" || part === "backup_codes") : []),
    ],
  });
  const wanted = userPartsOf(known.lacks).filter((part) => !isKept(part));
  const completion = await users.complete(known.id, user, wanted, (tx, fates) =>
    rows.renote(tx, "user", known, { lacks: completionOf(fates).lacks, holdings: noHoldings }),
  );
  return completionOf(completion);
}

/** @param deps as those of `importPush`. */
export async function completePush(
  deps: Pick<PushImportDeps, "db" | "vault" | "linkDeliveryIds">,
  rows: ImportedRows,
  known: ImportedRow,
  incoming: IncomingPush,
): Promise<Completion> {
  const missing = missingOf(known, incoming);
  const completionOf = (completion: PushCompletion) => outcomeOf(known, incoming, completion);
  const completion = await completeImportedPush(
    deps,
    { pushId: known.id, push: incoming.push, missing, broughtEvents: known.holdings.auditEntries },
    (tx, fates) => rows.renote(tx, "push", known, completionOf(fates)),
  );
  return completionOf(completion);
}

/** They are written together. */
const trailParts: readonly Part[] = ["trail", "notifications", "people"];

function missingOf({ lacks: before, holdings }: ImportedRow, { lacks: now, push }: IncomingPush) {
  const lacksNow = (part: Part) => now.some((lack) => lack === part);
  const inTrail = trailParts.filter((part) => before.includes(part));
  // Keys that open other mails than those of the run before must not close these again, nor a damage take entries away.
  const isNoWorse = trailParts.every((part) => !lacksNow(part) || inTrail.includes(part));
  const isAsLong = push.trail.length === holdings.auditEntries;
  const opensAll = !lacksNow("notifications") && (!lacksNow("trail") || isAsLong);
  return {
    note: before.includes("note") && !lacksNow("note"),
    trail: isNoWorse && opensAll && inTrail.some((part) => !lacksNow(part)),
  };
}

function outcomeOf(known: ImportedRow, { lacks, holdings }: IncomingPush, { note, trail }: PushCompletion): Completion {
  const fates: { filled: Part[]; superseded: Part[]; lacks: Part[] } = { filled: [], superseded: [], lacks: [] };
  for (const part of known.lacks) {
    const isTrail = trailParts.includes(part);
    const isKept = lacks.some((kept) => kept === part);
    const fate = isTrail ? trail : part === "note" ? note : undefined;
    if (fate === "superseded") fates.superseded.push(part);
    else if (fate === "filled" && !isKept) fates.filled.push(part);
    else fates.lacks.push(part);
  }
  const here = trail === "filled" ? { ...holdings, files: known.holdings.files } : known.holdings;
  return { outcome: "completed", ...fates, tokenTaken: false, holdings: here };
}
