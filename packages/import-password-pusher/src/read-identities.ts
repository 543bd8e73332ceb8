import { beforeFirstId, textOf, timeOf, wholeNumberOf } from "./cells.ts";
import type { PushIdentity, UserIdentity } from "./source.ts";
import type { SourceQueries } from "./store/queries.ts";
import { SourceReadError, type SourceRecord } from "./store/source-rows.ts";

const pageRows = 1_000;

type Page = (afterId: number, limit: number) => Promise<readonly SourceRecord[]>;

export async function* readUserIdentities({
  userIdentities,
  userIds,
}: Pick<SourceQueries, "userIdentities" | "userIds">): AsyncGenerator<UserIdentity> {
  for await (const { id, record } of readPages(userIdentities, userIds)) {
    yield {
      id,
      createdAt: timeOf(record.created_at) ?? null,
      email: textOf(record.email),
      apiToken: textOf(record.authentication_token),
      passwordHash: textOf(record.encrypted_password),
    };
  }
}

/** An account that is made without an email is confirmed at its creation. */
const creationMs = 1_000;

/** When the source first emailed a new user to confirm the address, as its rows say; undefined: nobody has confirmed one by email. */
export async function findFirstConfirmationEmail({
  userConfirmations,
  userIds,
}: Pick<SourceQueries, "userConfirmations" | "userIds">): Promise<number | undefined> {
  let first: number | undefined;
  for await (const { record } of readPages(userConfirmations, userIds)) {
    const [createdAt, confirmedAt] = [timeOf(record.created_at), timeOf(record.confirmed_at)];
    if (createdAt === undefined || confirmedAt === undefined || confirmedAt <= createdAt + creationMs) continue;
    first = Math.min(first ?? createdAt, createdAt);
  }
  return first;
}

export async function* readPushIdentities({
  pushIdentities,
  pushIds,
}: Pick<SourceQueries, "pushIdentities" | "pushIds">): AsyncGenerator<PushIdentity> {
  for await (const { id, record } of readPages(pushIdentities, pushIds)) {
    yield { id, createdAt: timeOf(record.created_at) ?? null, urlToken: textOf(record.url_token) };
  }
}

async function* readPages(
  page: Page,
  ids: Page,
): AsyncGenerator<{ readonly id: number; readonly record: SourceRecord }> {
  for (let last = beforeFirstId; ; ) {
    const records = await page(last, pageRows).catch((error: unknown) => {
      if (!(error instanceof SourceReadError)) throw error;
      // A damaged row hides the columns of the whole page. Damage is reported for each row later.
      return ids(last, pageRows);
    });
    for (const record of records) {
      const id = wholeNumberOf(record.id);
      // Greater than all ids that can be recorded.
      if (id === undefined) return;
      yield { id, record };
      last = id;
    }
    if (records.length < pageRows) return;
  }
}
