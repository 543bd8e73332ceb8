import { createHash } from "node:crypto";
import { beforeFirstId, timeOf, wholeNumberOf } from "./cells.ts";
import { pageRows, pagesAfter } from "./read-in-batches.ts";
import type { SourceQueries } from "./store/queries.ts";
import { type SourceRecord, unlessDamaged } from "./store/source-rows.ts";

/** An account that is made without an email is confirmed at its creation. */
const creationMs = 1_000;

/** When the source first emailed a new user to confirm the address, as its rows say; undefined: nobody has confirmed one by email. */
export async function findFirstConfirmationEmail(queries: PageQueries): Promise<number | undefined> {
  let first: number | undefined;
  for await (const record of readPages(queries, "users", ["created_at", "confirmed_at"])) {
    const [createdAt, confirmedAt] = [timeOf(record.created_at), timeOf(record.confirmed_at)];
    if (createdAt === undefined || confirmedAt === undefined || confirmedAt <= createdAt + creationMs) continue;
    first = Math.min(first ?? createdAt, createdAt);
  }
  return first;
}

/** A digest of what identifies each user and push, and of the times of their last changes. Nothing is decrypted. */
export async function digestIdentities(queries: PageQueries): Promise<string> {
  const digest = createHash("sha256");
  for (const [table, columns] of identities) {
    for await (const record of readPages(queries, table, columns)) digest.update(`${JSON.stringify(record)}\n`);
  }
  return digest.digest("hex");
}

type PageQueries = Pick<SourceQueries, "page">;

const identities = [
  ["users", ["created_at", "updated_at", "email", "authentication_token", "encrypted_password"]],
  ["pushes", ["created_at", "updated_at", "url_token"]],
] as const;

async function* readPages(
  queries: PageQueries,
  table: "users" | "pushes",
  columns: readonly string[],
): AsyncGenerator<SourceRecord> {
  const read = (afterId: number) => {
    const page = queries.page(table, columns, afterId, pageRows);
    // A damaged row hides the columns of the whole page.
    return unlessDamaged(page, () => queries.page(table, [], afterId, pageRows));
  };
  for await (const page of pagesAfter(beforeFirstId, read))
    yield* page.filter(({ id }) => wholeNumberOf(id) !== undefined);
}
