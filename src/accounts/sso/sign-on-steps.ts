import { minuteMs } from "../../base/clock.ts";
import { unavailable } from "../../base/errors.ts";
import { isFields } from "../../base/json.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { Transaction, WriteConnection } from "../../database/database.ts";
import type { AccountsDeps } from "../deps.ts";
import type { ProviderSession } from "../store/sessions.ts";
import type { SignOnStepStore } from "../store/sign-on-steps.ts";
import { signOnSteps } from "../store/tables.ts";
import type { SignOnSecrets } from "./provider.ts";

/** Enough time to sign in at the provider with all factors, or to find a password. */
export const signOnStepMs = 10 * minuteMs;

/** Many people may share one address. A flood of requests from it, or from one IPv6 network, only removes steps that began there. */
const limits = { perClientMax: 200, stepsMax: 20_000 };
const retrySeconds = 60;
const tokenShape = /^[A-Za-z0-9_-]{43}$/;

/** The browser was sent to the provider and has not returned. */
export interface StepOnTheWay {
  readonly is: "on_the_way";
  readonly secrets: SignOnSecrets;
  /** The path of this server to continue at. */
  readonly next: string | null;
  /** The account to link the identity to; null: to sign in. */
  readonly linkTo: number | null;
  /** The session whose user has to sign on afresh; null: none. */
  readonly proves: number | null;
  /** The browser keeps the session's cookie when it closes. */
  readonly persistent: boolean;
}

/** The provider has answered, and the account's owner has to confirm the link. */
export interface StepToConfirm {
  readonly is: "to_confirm";
  readonly issuer: string;
  readonly subject: string;
  /** The email address at the provider. */
  readonly email: string;
  readonly userId: number;
  /** The values of the groups claim that make the user a member of groups; null: no group has one. */
  readonly groups: readonly string[] | null;
  readonly next: string | null;
  /** As in `StepOnTheWay`. */
  readonly persistent: boolean;
  readonly providerSession: ProviderSession;
  /** SHA-256 in hexadecimal of the token of the link that was last mailed to the account's owner; null: none. */
  readonly mailedDigest: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A code was mailed to the user of a session, because the provider does not say when it asked the user. */
export interface StepWithCode {
  readonly is: "with_code";
  readonly sessionId: number;
  readonly userId: number;
  readonly code: string;
  readonly triesLeft: number;
  /** As they were when the code was mailed: it proves nothing about others. */
  readonly email: string;
  readonly passwordHash: string;
  readonly next: string | null;
}

export type SignOnStep = StepOnTheWay | StepToConfirm | StepWithCode;

const rowOf = (stepDigest: Buffer) => ({ id: stepDigest, ownerId: null });

export type SignOnSteps = ReturnType<typeof createSignOnSteps>;

export function createSignOnSteps(
  deps: Pick<AccountsDeps, "access" | "keyring" | "random"> & {
    readonly store: SignOnStepStore;
  },
) {
  const { store, access, keyring, random } = deps;
  const seal = (stepDigest: Buffer, step: SignOnStep) =>
    keyring().seal(signOnSteps.seals.signOnStep, rowOf(stepDigest), Buffer.from(JSON.stringify(step), "utf8"));
  return {
    /** @returns the token for the browser. @throws AppError unavailable: too many sign-ons are in progress. */
    async keep(step: SignOnStep, client: string, now: number): Promise<string> {
      const token = makeOpaqueToken(random);
      const stepDigest = access.digest("sign_on_step", token);
      const kept = await store.insertStep(
        { digest: stepDigest, sealed: seal(stepDigest, step), client, now },
        { since: now - signOnStepMs, ...limits },
      );
      if (!kept) throw unavailable("Too many people are signing in at the provider.", retrySeconds);
      return token;
    },
    /** @param tx to find it under the accounts lock. @returns undefined: unknown, used or expired. */
    async find(token: string | undefined, now: number, tx?: Transaction): Promise<SignOnStep | undefined> {
      if (token === undefined || !tokenShape.test(token)) return undefined;
      const stepDigest = access.digest("sign_on_step", token);
      const sealed = await store.findStep(stepDigest, now - signOnStepMs, tx);
      const opened =
        sealed === undefined ? undefined : keyring().open(signOnSteps.seals.signOnStep, rowOf(stepDigest), sealed);
      return opened === undefined ? undefined : readStep(JSON.parse(opened.toString("utf8")));
    },
    /** It still expires when it would have. Requires the accounts lock. */
    async replace(tx: Transaction, token: string, step: SignOnStep): Promise<void> {
      const stepDigest = access.digest("sign_on_step", token);
      await store.replaceStep(tx, stepDigest, seal(stepDigest, step));
    },
    /** Returns true to one caller only. */
    take: (writing: WriteConnection, token: string, now: number): Promise<boolean> =>
      store.takeStep(writing, access.digest("sign_on_step", token), now - signOnStepMs),
    /** @returns how many were removed. */
    removeExpired: (now: number, stepsMax: number): Promise<number> =>
      store.deleteStepsBefore(now - signOnStepMs, stepsMax),
  };
}

/** @returns undefined: another version of this program wrote the step. */
function readStep(step: unknown): SignOnStep | undefined {
  if (!isFields(step) || (typeof step.next !== "string" && step.next !== null)) return undefined;
  const { next } = step;
  const persistent = step.persistent === true;
  if (step.is === "on_the_way" && isFields(step.secrets)) {
    const { state, nonce, verifier } = step.secrets;
    const linkTo = typeof step.linkTo === "number" ? step.linkTo : null;
    const whole = typeof state === "string" && typeof nonce === "string" && typeof verifier === "string";
    const proves = typeof step.proves === "number" ? step.proves : null;
    return whole ? { is: step.is, secrets: { state, nonce, verifier }, next, linkTo, proves, persistent } : undefined;
  }
  if (step.is === "with_code") return readCodeStep(step, next);
  return step.is === "to_confirm" ? readConfirmStep(step, { next, persistent }) : undefined;
}

function readConfirmStep(
  step: Readonly<Record<string, unknown>>,
  known: Pick<StepToConfirm, "next" | "persistent">,
): StepToConfirm | undefined {
  const { issuer, subject, email, userId, createdAt } = step;
  if (!isFields(step.providerSession)) return undefined;
  const { sid, issuedAt } = step.providerSession;
  const hasClaims = typeof issuer === "string" && typeof subject === "string" && typeof email === "string";
  const areNumbers = typeof userId === "number" && typeof createdAt === "number" && typeof issuedAt === "number";
  if (!hasClaims || !areNumbers) return undefined;
  const providerSession = { issuer, subject, sid: typeof sid === "string" ? sid : undefined, issuedAt };
  const mailedDigest = typeof step.mailedDigest === "string" ? step.mailedDigest : null;
  const groups = Array.isArray(step.groups) ? step.groups.filter((group) => typeof group === "string") : null;
  const claims = { issuer, subject, email, groups, providerSession };
  return { is: "to_confirm", ...claims, userId, createdAt, mailedDigest, ...known };
}

function readCodeStep(step: Readonly<Record<string, unknown>>, next: string | null): StepWithCode | undefined {
  const { sessionId, userId, code, triesLeft, email, passwordHash } = step;
  const areNumbers = typeof sessionId === "number" && typeof userId === "number" && typeof triesLeft === "number";
  const areTexts = typeof code === "string" && typeof email === "string" && typeof passwordHash === "string";
  return areNumbers && areTexts
    ? { is: "with_code", sessionId, userId, code, triesLeft, email, passwordHash, next }
    : undefined;
}
