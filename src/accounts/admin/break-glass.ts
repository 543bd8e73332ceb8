import { minuteMs } from "../../base/clock.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { Transaction } from "../../database/database.ts";
import type { Outbox } from "../../mail/outbox.ts";
import { type ClientContext, type ClientOrigin, noOrigin, type User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import type { SessionStarts } from "../sessions/sessions.ts";
import type { AdministrationStore } from "../store/administration.ts";
import { findAdminsIn, markBreakGlass } from "../store/break-glass.ts";
import type { MailedLinkStore } from "../store/mailed-links.ts";
import { findUserIn } from "../store/users.ts";
import type { Administrator } from "./admin-actions.ts";

/** The page of the link. */
export const breakGlassPath = "/users/break_glass";

/** An operator with a shell opens it at once. */
const breakGlassMs = 15 * minuteMs;

export type BreakGlassLink =
  /** `informed`: how many administrators get an email; 0: this server sends none. */
  | { readonly outcome: "made"; readonly token: string; readonly informed: number }
  | { readonly outcome: "no_admin" | "disabled" | "logins_disabled" };

interface Deps extends Pick<AccountsDeps, "db" | "clock" | "random" | "access" | "settings"> {
  readonly links: MailedLinkStore;
  /** Open wherever a mail server is configured: administrators have to hear of it. */
  readonly outbox: Outbox;
  readonly recordAction: AdministrationStore["recordAction"];
  readonly startSession: SessionStarts["start"];
}

interface Event {
  readonly event: "made" | "used";
  readonly account: User;
  readonly client: ClientOrigin;
  readonly by: Administrator;
  readonly now: number;
}

/** For the day when the identity provider fails: a link from the server's shell signs an administrator in, once. */
export function createBreakGlass(deps: Deps) {
  const { db, clock, access, links, settings } = deps;
  const digestOf = (token: string) => access.digest("mailed_link", token);

  /** @returns how many administrators get an email. The link itself is in none. */
  async function report(tx: Transaction, { event, account, client, by, now }: Event): Promise<number> {
    const action = event === "made" ? "made_break_glass" : "used_break_glass";
    await deps.recordAction(tx, { by, action, subject: account.email, now });
    if (!deps.outbox.open) return 0;
    const { address, userAgent } = client;
    const content = { kind: "break_glass", event, account: account.email, at: now, address, userAgent } as const;
    const administrators = await findAdminsIn(tx, access, now);
    for (const { email, language } of administrators) await deps.outbox.put(tx, { to: email, language, content }, now);
    return administrators.length;
  }

  /** @returns the account that the link signs in to; undefined: the link is unknown, used or older than 15 minutes. */
  const findBreakGlass = async (token: string) =>
    settings.loginsDisabled ? undefined : links.find(digestOf(token), "break_glass", clock.now() - breakGlassMs);

  return {
    /** Marks the account (see `isBreakGlassIn`). Its earlier link works no more. */
    async makeBreakGlassLink(userId: number, by: Administrator): Promise<BreakGlassLink> {
      if (settings.loginsDisabled) return { outcome: "logins_disabled" };
      const token = makeOpaqueToken(deps.random);
      return db.writeSerialized("accounts", async (tx) => {
        const now = clock.now();
        const account = await findUserIn(tx, access, userId);
        if (account?.admin !== true) return { outcome: "no_admin" };
        if (account.disabledAt !== null) return { outcome: "disabled" };
        await links.removeOf(tx, userId, "break_glass");
        const link = { digest: digestOf(token), userId, purpose: "break_glass", passwordHash: null, now } as const;
        await links.insert(tx, link);
        await markBreakGlass(tx, access, userId, now);
        const informed = await report(tx, { event: "made", account, client: noOrigin, by, now });
        return { outcome: "made", token, informed };
      });
    },

    findBreakGlass,

    /** Signs in with the link. Of several requests with it, one succeeds. @returns the session's token; undefined as `findBreakGlass`. */
    async enterByBreakGlass(
      token: string,
      client: ClientContext,
    ): Promise<{ readonly sessionToken: string; readonly waitsForFactor: boolean } | undefined> {
      const link = await findBreakGlass(token);
      if (link === undefined) return undefined;
      const now = clock.now();
      let account: User | undefined;
      const sessionToken = await deps.startSession({ id: link.userId }, client, now, {
        way: "break_glass",
        async provided(tx) {
          const fresh = await links.findFresh(tx, digestOf(token), "break_glass", now - breakGlassMs);
          account = fresh && (await findUserIn(tx, access, fresh.userId));
          // Demoted meanwhile: the link was for an administrator.
          if (account?.admin !== true) return false;
          await links.removeOf(tx, account.id, "break_glass");
          const by = { userId: account.id, email: account.email, address: client.address };
          await report(tx, { event: "used", account, client, by, now });
          return true;
        },
      });
      if (sessionToken === undefined || account === undefined) return undefined;
      return { sessionToken, waitsForFactor: account.hasSecondFactor && !settings.signOnOnly };
    },
  };
}
