import { hourMs, minuteMs, secondMs } from "../../base/clock.ts";
import { digest, equalDigests } from "../../crypto/digests.ts";
import { type SlidingCounter, tooManyAttempts } from "../../limits/limits.ts";
import type { ClientContext, Session } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import type { IdentityStore } from "../store/identities.ts";
import type { PasswordStore } from "../store/passwords.ts";
import { setProved } from "../store/sessions.ts";
import { latinDigits } from "../text.ts";
import { joinClaimedGroups } from "./claimed-groups.ts";
import type { ProviderClaims } from "./provider.ts";
import { type ClaimRefusal, refusal } from "./provider-claims.ts";
import type { SignOnSteps, StepOnTheWay, StepWithCode } from "./sign-on-steps.ts";

/** The provider must have asked the user for a proof at most so long before its answer. */
const authenticatedMsMax = 5 * minuteMs;
/** The provider's two times may come from different clocks. */
const authenticatedMsMin = -30 * secondMs;
const codeDigits = 8;
const triesMax = 3;
const codesPerHour = { name: "sign-on codes", windowMs: hourMs, max: 10, rememberedMax: 40_000 };

export type ProofOutcome =
  | { readonly is: "proved"; readonly next: string | null }
  /** A code was mailed. `stepToken` replaces the given one. */
  | { readonly is: "code_sent"; readonly stepToken: string }
  | { readonly is: "refused"; readonly refusal: ClaimRefusal }
  | { readonly is: "linked_elsewhere" | "no_account" }
  | { readonly is: "invalid"; readonly error: undefined };

interface Deps extends Pick<AccountsDeps, "db" | "clock" | "random" | "access" | "limits" | "claimedGroups"> {
  readonly outbox: AccountsDeps["requestedOutbox"];
  readonly steps: SignOnSteps;
  readonly identities: IdentityStore;
  readonly passwords: Pick<PasswordStore, "findPassword" | "isCurrent">;
}

export type FreshSignOn = ReturnType<typeof createFreshSignOn>;

/**
 * Before a sensitive change, a user without a password and factors here signs on again, and the provider has to ask them: a sign-on
 * that it answers silently proves nothing about who sits at the screen.
 */
export function createFreshSignOn(deps: Deps) {
  const { db, clock, access, steps, passwords } = deps;
  const codes = deps.limits.sliding(codesPerHour);

  return {
    /** @throws AppError too_many_requests: too many codes were mailed; unavailable. */
    async proveBySignOn(
      claims: ProviderClaims,
      { next }: StepOnTheWay,
      session: Session,
      client: ClientContext,
    ): Promise<ProofOutcome> {
      const owner = await deps.identities.findUserByIdentity(claims);
      if (owner?.id !== session.user.id) return { is: owner === undefined ? "no_account" : "linked_elsewhere" };
      const { authenticatedFor } = claims;
      if (authenticatedFor === undefined) return mailCode(session, next, client, { ...deps, codes });
      const ms = authenticatedFor * secondMs;
      if (ms > authenticatedMsMax || ms < authenticatedMsMin) {
        return { is: "refused", refusal: refusal("not_fresh", "auth_time", `${-authenticatedFor} s`) };
      }
      const { id: userId, email } = session.user;
      const isProved = await db.writeSerialized("accounts", async (tx) => {
        const now = clock.now();
        if (!(await deps.identities.isIdentityOf(tx, claims, userId))) return false;
        if (claims.groups !== undefined) {
          const by = { userId, email, address: client.address };
          await joinClaimedGroups(tx, { by, values: claims.groups, now }, deps.claimedGroups);
        }
        return await setProved(tx, access, session, now);
      });
      return isProved ? { is: "proved", next } : { is: "invalid", error: undefined };
    },

    async waitsForCode(stepToken: string | undefined, session: Session): Promise<boolean> {
      return isCodeStep(await steps.find(stepToken, clock.now()), session);
    },

    /** @param typed up to three times per code. "invalid": there is no code, or none any more. */
    giveMailedCode: (
      stepToken: string | undefined,
      typed: string,
      session: Session,
    ): Promise<{ readonly is: "proved"; readonly next: string | null } | { readonly is: "wrong" | "invalid" }> =>
      db.writeSerialized("accounts", async (tx) => {
        const now = clock.now();
        const step = await steps.find(stepToken, now, tx);
        if (stepToken === undefined || !isCodeStep(step, session)) return { is: "invalid" };
        const given = latinDigits(typed).replace(/\s/g, "");
        if (!equalDigests(digest(given), digest(step.code))) {
          if (step.triesLeft > 1) await steps.replace(tx, stepToken, { ...step, triesLeft: step.triesLeft - 1 });
          else await steps.take(tx, stepToken, now);
          return { is: step.triesLeft > 1 ? "wrong" : "invalid" };
        }
        await steps.take(tx, stepToken, now);
        const account = await passwords.findPassword(session.user.id, tx);
        const isUnchanged = account?.user.email === step.email && account.passwordHash === step.passwordHash;
        const isProved = isUnchanged && (await setProved(tx, access, session, now));
        return isProved ? { is: "proved", next: step.next } : { is: "invalid" };
      }),
  };
}

function isCodeStep(step: { readonly is: string } | undefined, { id, user }: Session): step is StepWithCode {
  const { sessionId, userId } = (step?.is === "with_code" ? step : {}) as Partial<StepWithCode>;
  return sessionId === id && userId === user.id;
}

/** Only to a confirmed address, which the provider or a link has proved to be the user's. */
async function mailCode(
  session: Session,
  next: string | null,
  client: ClientContext,
  { db, clock, random, outbox, steps, passwords, codes }: Deps & { readonly codes: SlidingCounter },
): Promise<ProofOutcome> {
  const account = await passwords.findPassword(session.user.id);
  if (!outbox.open || account === undefined || account.user.confirmedAt === null) {
    return { is: "refused", refusal: refusal("not_fresh", "auth_time", undefined) };
  }
  const { user, passwordHash } = account;
  const now = clock.now();
  const charge = await codes.charge(String(user.id), now);
  if (charge.outcome === "refused") throw tooManyAttempts(charge);
  const code = drawCode(random.bytes(6));
  const about = { sessionId: session.id, userId: user.id, email: user.email, passwordHash };
  const step = { is: "with_code", ...about, code, triesLeft: triesMax, next } as const;
  const stepToken = await steps.keep(step, client.throttleKey, now);
  await db.write((tx) =>
    outbox.put(tx, { to: user.email, language: user.language, content: { kind: "sign_on_code", code } }, now),
  );
  return { is: "code_sent", stepToken };
}

/** 48 random bits: the digits are as good as uniform. */
function drawCode(bytes: Buffer): string {
  return String(bytes.readUIntBE(0, bytes.length) % 10 ** codeDigits).padStart(codeDigits, "0");
}
