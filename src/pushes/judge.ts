import { dayMs, minuteMs } from "../base/clock.ts";
import type { FieldProblems } from "../base/errors.ts";
import { assertNoProblems } from "../base/field-problems.ts";
import type { KindName } from "../base/push-kinds.ts";
import {
  findViolations,
  type Judged,
  type JudgedPassphrase,
  leastUnder,
  type Policy,
  rulesOfAnswers,
} from "../policies/policies.ts";
import type { Actor } from "./actor.ts";
import { encryptionOf, findInstantProblems, type LifetimeLimits, lifetimeOf } from "./create/limits.ts";
import { shrinkDefaults } from "./create/requested-push.ts";
import type { PushDeps } from "./deps.ts";
import { recipientsOf } from "./notifications/email-rules.ts";
import type { CreatePush, EditPush } from "./push.ts";
import { findOptionProblems } from "./push-options.ts";
import type { PushRow } from "./store/tables.ts";

interface Judging {
  readonly kind: KindName;
  readonly receivedAt: number;
  /** The rules for the caller, see `policyFor`. */
  readonly policy: Policy;
}

/**
 * Judges a request that is valid and not a repeat.
 * @returns the request, with what the rules leave of the server's defaults. @throws AppError invalid_fields.
 */
export async function judgeCreation(
  deps: PushDeps,
  request: CreatePush,
  { kind, receivedAt, policy }: Judging,
  actor: Actor,
): Promise<CreatePush> {
  const settings = deps.config.kinds[kind];
  const asked = shrinkDefaults(request, settings, policy);
  const { expiresAt, expireAfterViews } = lifetimeOf(asked, settings, receivedAt);
  const maxMs = Math.min(settings.days.max * dayMs, (policy.maxMinutes ?? Infinity) * minuteMs);
  assertNoProblems(
    findViolations(policy, {
      kinds: kindsIn(kind, request.upload?.fileCount ?? 0),
      isSealedBefore: request.encryption !== undefined,
      passphrase: passphraseOf(request),
      lifetime: { ms: expiresAt - receivedAt, field: lifetimeField(asked) },
      views: expireAfterViews,
      notifiesOnView: asked.notifyOnView ?? false,
      recipients: recipientsOf(request),
    }),
    findInstantProblems(request, maxMs, receivedAt),
    // The caller did not ask for what a rule switches on, so it was not checked before.
    asked.notifyOnView === request.notifyOnView ? {} : await findOptionProblems(deps, asked, actor),
  );
  return asked;
}

/** The limits of a push that the caller creates, with a least that the rules allow. An answer is opened once, whatever the settings want. */
export function limitsUnder(policy: Policy, settings: LifetimeLimits, { answersRequest }: Actor): LifetimeLimits {
  const { days, views } = leastUnder(policy, settings);
  return { days, views: answersRequest === undefined ? views : { ...views, min: 1 } };
}

/** The rules for the caller. Answers follow those of the time when their request was made. */
export function policyFor({ policies }: PushDeps, { user, answersRequest }: Actor): Policy | Promise<Policy> {
  return answersRequest === undefined ? policies.of(user) : rulesOfAnswers(answersRequest);
}

/** The kinds of the content: any push that has files is a file push too. */
function kindsIn(kind: KindName, fileCount: number): readonly KindName[] {
  return fileCount > 0 && kind !== "file" ? [kind, "file"] : [kind];
}

function passphraseOf(request: CreatePush): JudgedPassphrase {
  if (encryptionOf(request).encryption === "age_passphrase") return "unseen";
  const { passphrase = "" } = request;
  return passphrase === "" ? "none" : { text: passphrase };
}

/** The most exact field wins. */
function lifetimeField({ expiresAt, expireAfterMs }: CreatePush): string {
  if (expiresAt !== undefined) return "expiresAt";
  return expireAfterMs === undefined ? "expireAfterDays" : "expireAfterDuration";
}

interface JudgedEdit {
  readonly request: EditPush;
  readonly row: PushRow;
  readonly addedFiles: number;
}

/** @param request valid, and without what is no change. @returns what breaks the rules, by field; empty: nothing. */
export async function findEditViolations(
  { policies }: PushDeps,
  edit: JudgedEdit,
  { user }: Actor,
): Promise<FieldProblems> {
  return findViolations(await policies.of(user), judgedIn(edit));
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
