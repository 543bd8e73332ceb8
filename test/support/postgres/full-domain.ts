import type pg from "pg";

/** The user who owns a tenth of all pushes. */
export const busyOwner = 1;
/** The creation time of the newest push. */
export const newest = Date.UTC(2026, 0, 15, 12);
/** Between the creations of two pushes. */
export const intervalMs = 4_000;
/** A push with the maximum number of audit entries. */
export const pushWithLongTrail = 7;

/**
 * Rows like those of a busy installation: half of the pushes are owned, a third are active, and the last thousand are
 * ended anonymous ones. Each has three audit entries. The encrypted values are random bytes.
 */
export async function fillDomain(client: pg.Client, pushes: number): Promise<void> {
  const isOwned = `i % 2 = 1 AND i <= ${pushes - 1_000}`;
  const isLive = `i % 3 = 1 AND i <= ${pushes - 1_000}`;
  const digest = (text: string) => `sha256(convert_to(${text}, 'UTF8'))`;
  const created = `${newest} - (${pushes} - i) * ${intervalMs}`;
  const each = `generate_series(1::BIGINT, ${pushes}) AS i`;
  const statements = [
    `INSERT INTO pushes (id, link_check, kind, owner_id, created_at, updated_at, expires_at, ended_at, end_reason,
       expire_after_days, expire_after_views, views, refusals, audit_count, deletable_by_viewer, retrieval_step,
       seal_generation, row_secret_id, stored_bytes, key_check, token_sealed, name_sealed)
     SELECT i, decode(md5(i::text), 'hex'), i % 4, CASE WHEN ${isOwned} THEN CASE WHEN i % 10 = 1 THEN ${busyOwner} ELSE 2 + i % 1000 END END,
       ${created}, ${created}, ${created} + 604800000 * (1 + i % 12), CASE WHEN NOT (${isLive}) THEN ${created} + 60000 END,
       CASE WHEN NOT (${isLive}) THEN i % 2 END, 7, 5, i % 5, 0, 3, 1, 1, 1, i, 200, ${digest("'check' || i")},
       CASE WHEN ${isOwned} THEN ${digest("'token' || i")} END, CASE WHEN ${isOwned} THEN ${digest("'name' || i")} END
     FROM ${each}`,
    `INSERT INTO imported_links (digest, push_id) SELECT ${digest("'link' || i")}, i FROM ${each} WHERE i % 10 = 1`,
    `INSERT INTO row_secrets (id, sealed) SELECT i, ${digest("'key' || i")} FROM ${each} WHERE ${isLive}`,
    `INSERT INTO payloads (push_id, sealed) SELECT i, ${digest("'payload' || i")} FROM ${each} WHERE ${isLive}`,
    `INSERT INTO audit_entries (push_id, sequence, kind, user_id, address, user_agent, referrer, times, created_at, updated_at)
     SELECT i, s, (s - 1) % 3, NULL, '192.0.2.' || i % 250, 'Mozilla/5.0 (X11; Linux x86_64)', '', 1, ${created} + s, ${created} + s
     FROM ${each}, generate_series(1, CASE WHEN i = ${pushWithLongTrail} THEN 1000 ELSE 3 END) AS s`,
    `INSERT INTO files (id, push_id, position, blob_key, size_bytes, details_sealed, key_sealed)
     SELECT i, i, 1, md5('file' || i), 1000, ${digest("'details' || i")}, ${digest("'file key' || i")} FROM ${each} WHERE i % 20 = 1`,
    `INSERT INTO link_deliveries (id, push_id, sequence, recipient_count, details_sealed, sent, given_up, put_off, settled_at)
     SELECT i, i, 1, 1, ${digest("'delivery' || i")}, 1, 0, 0, ${created} FROM ${each} WHERE i % 20 = 1`,
    `INSERT INTO view_notifications (push_id, sequence) SELECT i, 2 FROM ${each} WHERE i % 50 = 1`,
    `INSERT INTO blob_deletions (blob_key, due_at, attempts) SELECT md5('file' || i), ${created}, 0 FROM ${each} WHERE i % 60 = 21`,
    `INSERT INTO uploads (blob_key, anonymous_bytes, renewed_at) SELECT md5('upload' || i), 10, ${created} FROM ${each} WHERE i % 50 = 0`,
    `INSERT INTO deleted_users (user_id, deleted_at) SELECT 100000 + i, ${created} FROM generate_series(1, 1000) AS i`,
    "VACUUM ANALYZE",
  ];
  for (const statement of statements) await client.query(statement);
}
