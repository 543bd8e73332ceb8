import type { Database as Connection } from "better-sqlite3";

export const manyTokenOf = (number: number) => `many-${number}`;

/**
 * Copies of one push of the fixture with their own links, created now: every third belongs to alice, every tenth has a
 * passphrase ("open sesame"). Each has been viewed once.
 * @param first a number above the existing ids.
 */
export function addManyPushes(connection: Connection, count: number, first = 10_000): void {
  connection.function("many_token", (number) => manyTokenOf(Number(number)));
  connection
    .prepare(
      `INSERT INTO pushes (id, created_at, updated_at, deletable_by_viewer, expire_after_days, expire_after_views, expired,
         kind, name, note_ciphertext, passphrase_ciphertext, payload_ciphertext, retrieval_step, url_token, user_id)
       WITH RECURSIVE numbers(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number + 1 < ?)
       SELECT ? + number, datetime('now'), datetime('now'), 1, 7, 5, 0, 0, '', '',
         CASE WHEN number % 10 = 0 THEN (SELECT passphrase_ciphertext FROM pushes WHERE id = 14) ELSE '' END,
         (SELECT payload_ciphertext FROM pushes WHERE id = 11), 1, many_token(number),
         CASE WHEN number % 3 = 0 THEN 3 END
       FROM numbers`,
    )
    .run(count, first);
  for (const kind of [0, 1]) {
    connection
      .prepare(
        `INSERT INTO audit_logs (created_at, updated_at, ip, kind, push_id, referrer, user_agent, user_id)
         SELECT created_at, created_at, '192.0.2.8', ?, id, '', 'test', user_id FROM pushes WHERE id >= ?`,
      )
      .run(kind, first);
  }
}
