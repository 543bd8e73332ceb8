import { normalizeEmail } from "../../base/email.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import { linkLifeMs } from "../../mail/email.ts";
import type { ClientContext } from "../account.ts";
import { accountNotification, createMailThrottle, type MailedLinkRequest, putMailedLink } from "../account-emails.ts";
import type { AccountsDeps } from "../deps.ts";
import type { KnownClients } from "../sessions/known-clients.ts";
import type { MailedLinkStore } from "../store/mailed-links.ts";
import type { PasswordStore } from "../store/passwords.ts";
import { hasAddressByScim } from "../store/scim-users.ts";
import type { UserStore } from "../store/users.ts";
import { type PasswordProblem, passwordProblem } from "./password-rules.ts";

interface Deps extends Pick<AccountsDeps, "db" | "clock" | "random" | "access" | "argon2" | "outbox" | "limits"> {
  readonly users: UserStore;
  readonly links: MailedLinkStore;
  readonly passwords: PasswordStore;
  readonly knownClients: Pick<KnownClients, "note">;
}

/** No user has this id. */
const nobody = 0;
const mailLimits = { name: "reset mail", perClientMax: 30, perAddressMax: 5 };
function recoveryParts(deps: Deps) {
  const throttle = createMailThrottle(mailLimits, deps.limits);
  const linkDigest = (token: string) => deps.access.digest("mailed_link", token);
  /** An invitation chooses a password in the same way, and works for longer. @param find looks in or outside of a transaction. */
  const findUsable = async (find: MailedLinkStore["find"], token: string, now: number) => {
    const digest = linkDigest(token);
    const reset = await find(digest, "reset_password", now - linkLifeMs.reset_password);
    return reset ?? (await find(digest, "invitation", now - linkLifeMs.invitation));
  };

  return { ...deps, throttle, linkDigest, findUsable, deps };
}

type RecoveryParts = ReturnType<typeof recoveryParts>;

function resetRequests(parts: RecoveryParts) {
  const { throttle, linkDigest, db, users, links, clock, outbox, access, deps } = parts;
  return {
    /**
     * Sends a link for choosing a new password and removes the account's earlier ones. The answer and the work are the
     * same for an address without an account. @throws AppError too_many_requests.
     */
    async requestReset({ email: typed, language, client }: MailedLinkRequest): Promise<void> {
      const now = clock.now();
      const email = normalizeEmail(typed);
      const mayMail = await throttle.charge(client.throttleKey, email ?? "", now);
      await db.writeSerialized("accounts", async (tx) => {
        const user = email === undefined ? undefined : await users.findFresh(tx, email);
        const isByScim = await hasAddressByScim(tx, access, user?.id ?? nobody);
        const mailed = mayMail && user !== undefined && user.disabledAt === null && !isByScim;
        // The same number of statements whether an email is sent or not.
        await links.removeOf(tx, mailed ? user.id : nobody, "reset_password");
        if (!mailed || !outbox.open) {
          await links.writeNothing(tx, linkDigest(makeOpaqueToken(deps.random)));
          await outbox.putNothing(tx);
          return;
        }
        await putMailedLink(deps, tx, user, { purpose: "reset_password", language, now });
      });
    },
  };
}

function resets({ findUsable, links, passwords, knownClients, clock, argon2, outbox }: RecoveryParts) {
  return {
    /** Whether the link still works. */
    isResettable: async (token: string): Promise<boolean> =>
      (await findUsable(links.find, token, clock.now())) !== undefined,

    /**
     * Ends all sessions, revokes all API tokens and removes all mailed links. The email address counts as confirmed and the client as known. It
     * does not sign in, because the second factor is still needed. "invalid_link": unknown, used or expired.
     * @throws AppError unavailable.
     */
    async resetPassword(given: {
      token: string;
      password: string;
      client: ClientContext;
    }): Promise<"changed" | "invalid_link" | PasswordProblem> {
      const { token, password, client } = given;
      const now = clock.now();
      const link = await findUsable(links.find, token, now);
      if (link === undefined) return "invalid_link";
      const problem = passwordProblem(password, link.email);
      if (problem !== undefined) return problem;
      const changed = await passwords.changePassword({
        userId: link.userId,
        now,
        from: null,
        to: await argon2.hashPassword(password, client.throttleKey),
        keptSessionId: null,
        revokesTokens: true,
        freshSince: null,
        provided: async (tx) =>
          (await findUsable((...wanted) => links.findFresh(tx, ...wanted), token, now)) !== undefined,
        async onChanged(tx, before) {
          await links.confirm(tx, before.id, null, now);
          await knownClients.note(tx, before, client, now);
          await outbox.put(tx, accountNotification(before, "password_changed", { client, at: now }), now);
        },
      });
      return changed ? "changed" : "invalid_link";
    },
  };
}

export function createRecovery(deps: Deps) {
  const shared = recoveryParts(deps);
  return { ...resetRequests(shared), ...resets(shared) };
}
