import type { Random } from "../base/random.ts";
import { digest } from "../crypto/digests.ts";
import { makeOpaqueToken } from "../crypto/tokens.ts";
import type { Transaction } from "../database/database.ts";
import type { Outbox } from "../mail/outbox.ts";
import type { User } from "./account.ts";
import type { MailedLinkStore } from "./store/mailed-links.ts";

interface Sending {
  /** Of a reader who has chosen none. */
  readonly language: string;
  /** Of the sign-up that the mail answers, which becomes the account's; null: the password stays. */
  readonly passwordHash: string | null;
  readonly now: number;
}

/** A link by which the account's e-mail is confirmed, and the mail with it. In one of the accounts' turn. */
export async function putConfirmation(
  deps: { readonly links: MailedLinkStore; readonly random: Random; readonly outbox: Outbox },
  tx: Transaction,
  user: User,
  { language, passwordHash, now }: Sending,
): Promise<void> {
  const token = makeOpaqueToken(deps.random);
  await deps.links.insert(tx, {
    ...{ digest: digest(token), userId: user.id, purpose: "confirm_account", passwordHash, now },
  });
  const content = { kind: "confirm_account", token } as const;
  await deps.outbox.put(tx, { to: user.email, language: user.language ?? language, content }, now);
}
