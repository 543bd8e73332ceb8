import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, countRows, readRows } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { connect } from "../../../test/support/postgres/behind-proxy.ts";
import { makePostgresDatabase } from "../../../test/support/postgres/database.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { claimOperations } from "../claim/claim-view.ts";
import type { ViewClaim } from "./write-view.ts";

interface Claim {
  readonly owner?: typeof stranger;
  readonly views: number;
  readonly hasFile?: boolean;
  readonly idempotencyKey?: string;
  /** After the claim has read it. The statements that compare `updated_at` then match nothing, so they do not wait. */
  readonly isEdited?: boolean;
  /** Matches the statement that waits, and no other. */
  readonly statement: RegExp;
}

const owner = signedIn(7);
const idempotencyKey = "a-random-key-of-the-client";
const beforeLast = /^WITH claimed .* AND NOT [(]views/s;
const lastOfAnonymous = /^WITH claimed .* AND owner_id IS NULL RETURNING/s;
const any = /^WITH claimed .* AND seal_generation = \$\d+ AND last_claim_id IS DISTINCT FROM \$\d+ RETURNING/s;
const inTransaction = /^UPDATE pushes SET views .* AND seal_generation = \$\d+ AND updated_at = \$\d+ RETURNING/s;
const anyInTransaction = /^UPDATE pushes SET views .* AND seal_generation = \$\d+ RETURNING/s;

/** Every statement that counts a view. */
const claims: readonly (readonly [string, Claim])[] = [
  ["a view before the last", { owner, views: 3, statement: beforeLast }],
  ["the last view of an anonymous push", { views: 1, statement: lastOfAnonymous }],
  ["the last view of an owned push", { owner, views: 1, statement: any }],
  ["a view of an edited push", { owner, views: 3, isEdited: true, statement: any }],
  ["a view of a push with a file", { owner, views: 3, hasFile: true, statement: inTransaction }],
  ["a view under an idempotency key", { views: 3, idempotencyKey, statement: inTransaction }],
  ["such a view of an edited push", { owner, views: 3, idempotencyKey, isEdited: true, statement: anyInTransaction }],
];

const claimId = 1;

/**
 * What the other transaction changes. Each of the first four breaks one condition of the guard only: the others would hide that
 * it is missing, because a real end changes several columns.
 */
const changes = [
  { set: "views = expire_after_views", expected: undefined },
  { set: "ended_at = created_at", expected: undefined },
  { set: "expires_at = created_at", expected: undefined },
  { set: "seal_generation = seal_generation + 1", expected: undefined },
  { set: "views = expire_after_views - 1", expected: { endReason: "views", notifyOnView: false } },
  { set: "expire_after_views = expire_after_views + 1", expected: { endReason: null, notifyOnView: false } },
  { set: "updated_at = updated_at + 1, notify_on_view = 1", expected: { notifyOnView: true } },
];
/** The same claim, whose answer was lost. In a transaction the key or a ticket finds it. */
const countedBefore = { set: `last_claim_id = ${claimId}`, expected: undefined };

/** What a request passes to the store to have its view counted. */
async function readClaim(fixture: TestDomain, { owner: actor = stranger, ...wish }: Claim): Promise<ViewClaim> {
  const { pushes, store } = fixture.domain;
  const expireAfterViews = wish.views;
  const { urlToken } = wish.hasFile
    ? await pushFiles(pushes, actor, [makeFile("plan", "the plan")], { expireAfterViews })
    : await pushes.create({ payload: "x", expireAfterViews }, actor);
  const read: ViewClaim[] = [];
  const writeView = async (claim: ViewClaim) => {
    read.push(claim);
    return claim.asRead.row;
  };
  const { claimView } = claimOperations(pushDepsOf(fixture, { store: { ...store, writeView } }));
  await claimView(urlToken, { ...countEveryone, idempotencyKey: wish.idempotencyKey }, stranger);
  const [claim] = read;
  if (claim === undefined) throw new Error("The claim was refused before it was written.");
  return { ...claim, claimId };
}

test.each(claims)("%s that waits for another transaction counts only if the push still allows it", async (_, wish) => {
  const { url } = await makePostgresDatabase();
  await using fixture = await openTestDomain({ environment: { DATABASE_URL: url } });
  const { db, store } = fixture.domain;
  const other = await connect(url);
  const waiting = "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  const waitingStatement = async () => (await readRows<{ query: string }>(db, waiting)).at(0)?.query ?? "";
  const hasClaimId = wish.statement.source.startsWith("^WITH");
  for (const { set, expected } of hasClaimId ? [...changes, countedBefore] : changes) {
    const claim = await readClaim(fixture, wish);
    const { id } = claim.asRead.row;
    if (wish.isEdited) await changeRows(db, "UPDATE pushes SET updated_at = updated_at + 1 WHERE id = ?", id);
    await other.query("BEGIN");
    await other.query(`UPDATE pushes SET ${set} WHERE id = $1`, [id]);
    const written = store.writeView(claim);
    await expect.poll(waitingStatement).toMatch(wish.statement);
    await other.query("COMMIT");
    const row = await written;
    if (expected === undefined) expect(row, set).toBeUndefined();
    else expect(row, set).toMatchObject(expected);
    const isSecretLeft = row === undefined || row.endReason === null;
    expect(await countRows(db, "row_secrets", `id = ${id}`), set).toBe(isSecretLeft ? 1 : 0);
    const notifications = expected?.notifyOnView ? 1 : 0;
    expect(await countRows(db, "view_notifications", `push_id = ${id}`), set).toBe(notifications);
  }
});
