import { createHash } from "node:crypto";
import { beforeFirstId, timeOf, wholeNumberOf } from "./cells.ts";
import type { SourceQueries } from "./store/queries.ts";
import { SourceReadError, type SourceRecord } from "./store/source-rows.ts";

const pageRows = 1_000;

type Page = (afterId: number, limit: number) => Promise<readonly SourceRecord[]>;

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

/** A digest of what identifies each user and push, and of the times of their last changes. Nothing is decrypted. */
export async function digestIdentities({
  userIdentities,
  userIds,
  pushIdentities,
  pushIds,
}: Pick<SourceQueries, "userIdentities" | "userIds" | "pushIdentities" | "pushIds">): Promise<string> {
  const digest = createHash("sha256");
  for (const pages of [readPages(userIdentities, userIds), readPages(pushIdentities, pushIds)]) {
    for await (const { record } of pages) digest.update(`${JSON.stringify(record)}\n`);
  }
  return digest.digest("hex");
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
