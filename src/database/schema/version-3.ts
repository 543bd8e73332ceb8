/** What moving in and mails about pushes need. */
export const version3 = `
  -- What was brought in from elsewhere, so that a second run brings nothing twice. source: of the installation it came from.
  -- run: the one that brought it. lacks: names between blanks of what stayed behind and is still to come; '': it came
  -- whole. Then what came with a push.
  CREATE TABLE imported_rows (
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    source_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    run TEXT NOT NULL,
    lacks TEXT NOT NULL,
    audit_events INTEGER NOT NULL,
    notifications INTEGER NOT NULL,
    files INTEGER NOT NULL,
    PRIMARY KEY (source, kind, source_id)
  ) WITHOUT ROWID;

  -- What backup codes from elsewhere are checked by: their digests are keyed ones, of a key of that installation.
  CREATE TABLE imported_code_keys (
    user_id INTEGER PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
    key_sealed BLOB NOT NULL
  );

  -- Its owner wants to be told of each counted view.
  ALTER TABLE pushes ADD COLUMN notify_on_view INTEGER NOT NULL DEFAULT 0;
  -- Counted views that their owner has not been told of yet; sequence: of the audit entry.
  CREATE TABLE view_notifications (
    push_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (push_id, sequence)
  ) WITHOUT ROWID;
  -- A row for each time that the link of a push was mailed; sequence: of the audit entry. sent and given_up are sets: the
  -- bit of value 2^n is the recipient at place n.
  CREATE TABLE link_deliveries (
    id INTEGER PRIMARY KEY,
    push_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    recipient_count INTEGER NOT NULL,
    details_sealed BLOB NOT NULL,
    sent INTEGER NOT NULL,
    given_up INTEGER NOT NULL,
    put_off INTEGER NOT NULL,
    settled_at INTEGER
  );
  CREATE UNIQUE INDEX link_deliveries_push ON link_deliveries(push_id, sequence);
  -- To how many addresses somebody has had links mailed on one day (UTC, counted since the epoch), the latest.
  CREATE TABLE link_delivery_days (
    owner_id INTEGER PRIMARY KEY,
    day INTEGER NOT NULL,
    recipient_count INTEGER NOT NULL
  );
  `;
