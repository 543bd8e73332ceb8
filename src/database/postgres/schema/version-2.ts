/** What moving in and mails about pushes need. */
export const version2 = `
  CREATE TABLE imported_rows (
    source TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    source_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    lacks TEXT COLLATE "C" NOT NULL,
    audit_events BIGINT NOT NULL,
    notifications BIGINT NOT NULL,
    files BIGINT NOT NULL,
    PRIMARY KEY (source, kind, source_id)
  );

  CREATE TABLE imported_code_keys (
    user_id BIGINT PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
    key_sealed BYTEA NOT NULL
  );

  ALTER TABLE pushes ADD COLUMN notify_on_view BIGINT NOT NULL DEFAULT 0;
  CREATE TABLE view_notifications (
    push_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    PRIMARY KEY (push_id, sequence)
  );
  CREATE TABLE link_deliveries (
    id BIGINT PRIMARY KEY,
    push_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    recipient_count BIGINT NOT NULL,
    details_sealed BYTEA NOT NULL,
    sent BIGINT NOT NULL,
    given_up BIGINT NOT NULL,
    put_off BIGINT NOT NULL,
    settled_at BIGINT
  );
  CREATE UNIQUE INDEX link_deliveries_push ON link_deliveries(push_id, sequence);
  CREATE TABLE link_delivery_days (
    owner_id BIGINT PRIMARY KEY,
    day BIGINT NOT NULL,
    recipient_count BIGINT NOT NULL
  );
  `;
