import { hourMs } from "../../base/clock.ts";
import { normalizeEmail } from "../../base/email.ts";
import { AppError, unavailable } from "../../base/errors.ts";
import type { Transaction } from "../../database/database.ts";
import { tooManyAttempts } from "../../limits/limits.ts";
import { createNetworkCounter } from "../../limits/network-counter.ts";
import { linkLifeMs } from "../../mail/email.ts";
import type { ClientContext, User } from "../account.ts";
import { createMailThrottle, type MailedLinkRequest, putMailedLink } from "../account-emails.ts";
import type { AccountsDeps } from "../deps.ts";
import type { SessionStarts } from "../sessions/sessions.ts";
import { isFirstRunOver } from "../store/first-run.ts";
import type { MailedLinkStore } from "../store/mailed-links.ts";
import type { UserStore } from "../store/users.ts";
import { type PasswordProblem, passwordProblem } from "./password-rules.ts";

export type EmailProblem = "malformed" | "not_allowed" | "taken";

export interface EntryProblems {
  readonly email?: EmailProblem;
  readonly password?: PasswordProblem;
}

export type SignUpOutcome =
  /** Account emails are off: the address cannot be confirmed, so the account is usable at once. */
  | { readonly outcome: "signed_in"; readonly user: User; readonly sessionToken: string }
  /** The same whether the address was free or taken. */
  | { readonly outcome: "mail_sent" }
  | { readonly outcome: "refused"; readonly problems: EntryProblems }
  /** There is no user yet: the first one is created by the first run, as an administrator. */
  | { readonly outcome: "first_run" }
  /** Account emails are on, and none can be sent for now. */
  | { readonly outcome: "mail_unavailable" };

interface Deps extends AccountsDeps {
  readonly users: UserStore;
  readonly links: MailedLinkStore;
  readonly startSession: SessionStarts["start"];
}

const mailLimits = { name: "sign-up mail", perClientMax: 100, perAddressMax: 5 };
const abandonedAfterMs = 7 * linkLifeMs.confirm_account;

interface Applicant {
  readonly email: string;
  readonly passwordHash: string;
  readonly language: string;
  readonly mayMail: boolean;
  readonly now: number;
}

function problemsOf(
  { signupEmailPattern }: Deps["settings"],
  email: string | undefined,
  password: string,
): EntryProblems {
  const problem = passwordProblem(password, email ?? "");
  const allowed = email !== undefined && (signupEmailPattern?.test(email) ?? true);
  return {
    ...(!allowed && { email: email === undefined ? "malformed" : "not_allowed" }),
    ...(problem !== undefined && { password: problem }),
  };
}
function registrationParts(deps: Deps) {
  const { db, users, links, random, settings, outbox } = deps;
  const throttle = createMailThrottle(mailLimits, deps.limits);
  const linkDigest = (token: string) => deps.access.digest("mailed_link", token);

  /** Runs this many statements that have no effect. */
  async function writeNothing(tx: Transaction, times: number): Promise<void> {
    for (let count = 0; count < times; count += 1) await links.writeNothing(tx, random.bytes(32));
  }

  /**
   * Finds or creates the account of the address, always with the same number of statements.
   * @returns undefined: a row that this server did not write has the address.
   */
  async function getAccount(
    tx: Transaction,
    { email, passwordHash, language, now }: Applicant,
  ): Promise<User | undefined> {
    const made = await users.insert(tx, { email, passwordHash, admin: false, confirmed: false, language, now });
    if (made !== undefined) return made;
    await writeNothing(tx, 1);
    return users.findFresh(tx, email);
  }

  /** Every path costs the same: one hash before, and one durable write with the same number of statements. */
  function apply(applicant: Applicant): Promise<"mail_sent" | "first_run"> {
    const { email, language, passwordHash, mayMail, now } = applicant;
    return db.writeSerialized("accounts", async (tx) => {
      if (!(await isFirstRunOver(tx))) return "first_run";
      if (!mayMail) {
        await writeNothing(tx, 1);
        return "mail_sent";
      }
      const user = await getAccount(tx, applicant);
      const hasSignedIn = await users.hasSignedIn(tx, user?.id ?? 0);
      // An account that was used before account emails were switched on is not a pending sign-up: its password must stay.
      if (user !== undefined && user.confirmedAt === null && user.disabledAt === null && !hasSignedIn) {
        // Nobody has confirmed this address. Each sign-up has its own link and password, and the account gets the password
        // of the link that is used: a stranger who signed up first has no access.
        await putMailedLink(deps, tx, user, { purpose: "confirm_account", language, passwordHash, now });
      } else {
        await writeNothing(tx, 1);
        const content = { kind: "already_registered" } as const;
        await outbox.put(tx, { to: email, language: user?.language ?? language, content }, now);
      }
      return "mail_sent";
    });
  }

  async function enter(applicant: Applicant, client: ClientContext): Promise<SignUpOutcome> {
    const { email, passwordHash, language, now } = applicant;
    const made = await db.writeSerialized("accounts", async (tx) => {
      if (!(await isFirstRunOver(tx))) return "first_run";
      const user = { email, passwordHash, admin: false, confirmed: false, language, now };
      return (await users.insert(tx, user)) ?? "taken";
    });
    if (made === "first_run") return { outcome: "first_run" };
    if (made === "taken") return { outcome: "refused", problems: { email: "taken" } };
    const sessionToken = await deps.startSession(made, client, now);
    if (sessionToken === undefined) throw new AppError("forbidden", "This account may not sign in.");
    return { outcome: "signed_in", user: made, sessionToken };
  }

  const signUpNeedsMail = () => settings.emails && !deps.mailAvailable();

  return { ...deps, throttle, linkDigest, signUpNeedsMail, writeNothing, apply, enter, deps };
}

type RegistrationParts = ReturnType<typeof registrationParts>;

function signUps({ throttle, signUpNeedsMail, clock, argon2, settings, apply, enter, deps }: RegistrationParts) {
  return {
    /** Sign-up is closed for now, because addresses must be confirmed and no email can be sent. */
    signUpNeedsMail,

    /**
     * With account emails, the account waits for its confirmation. A taken address gets the same answer for the same
     * work, and its owner an email; "taken" is only returned without account emails.
     * @param given `language` of the page: becomes the account's.
     * @throws AppError forbidden (signing up is disabled), too_many_requests, unavailable.
     */
    async signUp(given: {
      email: string;
      password: string;
      language: string;
      client: ClientContext;
    }): Promise<SignUpOutcome> {
      const { email: typed, password, language, client } = given;
      if (settings.signupsDisabled || settings.loginsDisabled || (await deps.isSignUpClosed()))
        throw new AppError("forbidden", "Sign-up is not available on this server.");
      if (signUpNeedsMail()) return { outcome: "mail_unavailable" };
      const now = clock.now();
      const email = normalizeEmail(typed);
      const problems = problemsOf(settings, email, password);
      if (email === undefined || problems.email !== undefined || problems.password !== undefined) {
        return { outcome: "refused", problems };
      }
      const make = async () => {
        const mayMail = await throttle.charge(client.throttleKey, email, now);
        return { mayMail, passwordHash: await argon2.hashPassword(password, client.throttleKey) };
      };
      const hashed = await deps.hashAttempts.run({ client: client.throttleKey, now, make, isRight: () => false });
      if (hashed.outcome === "refused") throw tooManyAttempts(hashed);
      const applicant = { email, language, now, ...hashed.result };
      return settings.emails ? { outcome: await apply(applicant) } : enter(applicant, client);
    },
  };
}

function confirmations(parts: RegistrationParts) {
  const { throttle, linkDigest, db, users, links, clock, outbox, writeNothing, deps } = parts;
  return {
    /** Sends another confirmation if that account waits for one, without revealing it. @throws AppError too_many_requests. */
    async requestConfirmation({ email: typed, language, client }: MailedLinkRequest): Promise<void> {
      const now = clock.now();
      const email = normalizeEmail(typed);
      const mayMail = await throttle.charge(client.throttleKey, email ?? "", now);
      await db.writeSerialized("accounts", async (tx) => {
        const user = email === undefined ? undefined : await users.findFresh(tx, email);
        const waits = user !== undefined && user.confirmedAt === null && user.disabledAt === null;
        if (waits && mayMail && outbox.open) {
          await putMailedLink(deps, tx, user, { purpose: "confirm_account", language, now });
          return;
        }
        await writeNothing(tx, 1);
        await outbox.putNothing(tx);
      });
    },

    /** Whether the link still works. */
    isConfirmable: async (token: string): Promise<boolean> =>
      (await links.find(linkDigest(token), "confirm_account", clock.now() - linkLifeMs.confirm_account)) !== undefined,

    /** @returns the user's id; undefined: the link is unknown, used, invalidated or expired. */
    confirmAccount(token: string): Promise<number | undefined> {
      const now = clock.now();
      return db.writeSerialized("accounts", async (tx) => {
        const since = now - linkLifeMs.confirm_account;
        const link = await links.findFresh(tx, linkDigest(token), "confirm_account", since);
        const isConfirmed = link !== undefined && (await links.confirm(tx, link.userId, link.passwordHash, now));
        return isConfirmed ? link.userId : undefined;
      });
    },

    /** For the cleanup job: removes sign-ups not confirmed within a week. @returns how many links, at most `linksMax`. */
    removeAbandonedLinks: (linksMax: number): Promise<number> =>
      links.removeAbandoned(clock.now() - abandonedAfterMs, linksMax),
  };
}

export function createRegistration(deps: Deps) {
  const shared = registrationParts(deps);
  return { ...signUps(shared), ...confirmations(shared) };
}

/**
 * Per hour. The address is not confirmed, so one account must not send to many addresses, nor many accounts to one.
 * Counted separately from emails that strangers cause, so that strangers cannot use up the owner's limit.
 */
const perHourMax = { client: 100, user: 5, address: 5 };
const rememberedMax = 40_000;

export function createOwnConfirmation(
  deps: Pick<Deps, "db" | "users" | "links" | "clock" | "random" | "access" | "requestedOutbox" | "limits">,
) {
  const { db, users, clock, requestedOutbox: outbox, limits } = deps;
  const counterOf = (of: keyof typeof perHourMax, shares = 1) =>
    limits.inWindows({
      name: `own confirmation mail ${of}`,
      windowMs: hourMs,
      max: Math.floor(perHourMax[of] * shares),
      rememberedMax,
    });
  const ofClients = createNetworkCounter((shares) => counterOf("client", shares));
  const counters = { client: ofClients, user: counterOf("user"), address: counterOf("address") };

  async function charge(client: string, user: Pick<User, "id" | "email">, now: number): Promise<void> {
    const charges = [
      [counters.client, client],
      [counters.user, String(user.id)],
      [counters.address, user.email],
    ] as const;
    for (const [counter, key] of charges) {
      const outcome = await counter.charge(key, now);
      if (outcome.outcome === "refused") throw tooManyAttempts(outcome);
    }
  }

  return {
    /**
     * Sends the signed-in user a link to confirm their email address, also when account emails are off.
     * @param given `language` for a user without a chosen language.
     * @returns "not_waiting": the address is already confirmed, or has changed.
     * @throws AppError forbidden (this server sends no emails), too_many_requests, unavailable.
     */
    async requestOwnConfirmation(given: {
      user: Pick<User, "id" | "email">;
      language: string;
      client: ClientContext;
    }): Promise<"sent" | "not_waiting"> {
      const { language, client } = given;
      const { id, email } = given.user;
      if (!outbox.open) throw new AppError("forbidden", "This server sends no emails.");
      const now = clock.now();
      await charge(client.throttleKey, { id, email }, now);
      if (await outbox.isFull()) throw unavailable("Too many emails wait to be sent. Try again later.", 60);
      return await db.writeSerialized("accounts", async (tx) => {
        const user = await users.findFresh(tx, email);
        if (user?.id !== id || user.confirmedAt !== null || user.disabledAt !== null) return "not_waiting";
        await putMailedLink({ ...deps, outbox }, tx, user, { purpose: "confirm_account", language, now });
        return "sent";
      });
    },
  };
}
