import { dayMs } from "../../base/clock.ts";
import type { FieldProblems } from "../../base/errors.ts";
import { findViolations, type Judged, type JudgedPassphrase } from "../../policies/policies.ts";
import type { Actor } from "../actor.ts";
import { kindsIn } from "../create/judge-creation.ts";
import type { PushDeps } from "../deps.ts";
import type { EditPush } from "../push.ts";
import type { PushRow } from "../store/tables.ts";

interface JudgedEdit {
  readonly request: EditPush;
  readonly row: PushRow;
  readonly addedFiles: number;
}

/** @param request valid, and without what is no change. @returns what breaks the rules, by field; empty: nothing. */
export async function findEditViolations(
  { policies }: PushDeps,
  { request, row, addedFiles }: JudgedEdit,
  { user }: Actor,
): Promise<FieldProblems> {
  return findViolations(await policies.of(user), judgedIn({ request, row, addedFiles }));
}

/** New content, files or a new passphrase are judged by every rule but that of the lifetime; otherwise only what changes. */
function judgedIn({ request, row, addedFiles }: JudgedEdit): Judged {
  const { expireAfterDays: days, expireAfterViews: views, notifyOnView, payload = "", fields, passphrase } = request;
  const isNew = payload !== "" || fields !== undefined || passphrase !== undefined || addedFiles > 0;
  const hasDays = days !== undefined && days !== row.expireAfterDays;
  return {
    ...(hasDays && { lifetime: { ms: days * dayMs, field: "expireAfterDays" } }),
    ...((isNew || (views !== undefined && views !== row.expireAfterViews)) && { views: views ?? row.expireAfterViews }),
    ...((isNew || (notifyOnView !== undefined && notifyOnView !== row.notifyOnView)) && {
      notifiesOnView: notifyOnView ?? row.notifyOnView,
    }),
    ...(isNew && {
      kinds: kindsIn(row.kind, addedFiles),
      isSealedBefore: row.encryption !== "none",
      passphrase: passphraseAfter(request, row),
    }),
  };
}

/** A passphrase that stays is known where it is sent to keep the content. */
function passphraseAfter(
  { passphrase, currentPassphrase = "" }: EditPush,
  { passphraseSalt }: PushRow,
): JudgedPassphrase {
  if (typeof passphrase === "string") return { text: passphrase };
  if (passphrase === null || passphraseSalt === null) return "none";
  return currentPassphrase === "" ? "unseen" : { text: currentPassphrase };
}
