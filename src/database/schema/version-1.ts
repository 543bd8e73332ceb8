/** Pushes, files and the accounts that own them. */
export const version1 = `
  CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE id_blocks (
    name TEXT PRIMARY KEY,
    next_id INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Kept in step by the writes themselves: counting what is there would take the longer the more there is.
  CREATE TABLE totals (
    name TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
  ) WITHOUT ROWID;
  INSERT INTO totals (name, bytes) VALUES ('live_anonymous', 0);

  CREATE TABLE processes (
    id TEXT PRIMARY KEY,
    active_key_id TEXT NOT NULL,
    key_ids TEXT NOT NULL,
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    admin INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  );

  CREATE TABLE sessions (
    digest BLOB PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX sessions_user ON sessions(user_id);
  CREATE INDEX sessions_seen ON sessions(seen_at);

  CREATE TABLE api_tokens (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
  );
  CREATE INDEX api_tokens_user ON api_tokens(user_id);

  -- kind: 0 text, 1 file, 2 url, 3 qr. end_reason: 0 views, 1 time, 2 viewer, 3 owner.
  -- An ended anonymous push keeps its row as the tombstone: digest, kind, limits, times and reason.
  CREATE TABLE pushes (
    id INTEGER PRIMARY KEY,
    token_digest BLOB NOT NULL UNIQUE,
    kind INTEGER NOT NULL,
    owner_id INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    end_reason INTEGER,
    expire_after_days INTEGER NOT NULL,
    expire_after_views INTEGER NOT NULL,
    views INTEGER NOT NULL,
    refusals INTEGER NOT NULL,
    audit_count INTEGER NOT NULL,
    deletable_by_viewer INTEGER NOT NULL,
    retrieval_step INTEGER NOT NULL,
    seal_generation INTEGER NOT NULL,
    data_key_id INTEGER NOT NULL,
    stored_bytes INTEGER NOT NULL,
    link_salt BLOB NOT NULL,
    passphrase_salt BLOB,
    token_sealed BLOB,
    name_sealed BLOB,
    note_sealed BLOB
  );
  CREATE INDEX pushes_due ON pushes(expires_at) WHERE ended_at IS NULL;
  -- Two, so that looking for the few tombstones never walks through an owner's long history, nor the other way round.
  CREATE INDEX pushes_tombstones ON pushes(ended_at) WHERE ended_at IS NOT NULL AND owner_id IS NULL;
  CREATE INDEX pushes_history ON pushes(ended_at) WHERE ended_at IS NOT NULL AND owner_id IS NOT NULL;
  CREATE INDEX pushes_owner ON pushes(owner_id, created_at, id) WHERE owner_id IS NOT NULL;
  CREATE INDEX pushes_owner_active ON pushes(owner_id, created_at, id) WHERE owner_id IS NOT NULL AND ended_at IS NULL;

  -- Rows are appended and overwritten in place, never moved: a moved row would leave a copy of its bytes in the
  -- unallocated part of a page, out of reach of secure_delete. Hence a key of its own, and one width.
  CREATE TABLE data_keys (
    id INTEGER PRIMARY KEY,
    sealed BLOB NOT NULL
  );

  CREATE TABLE payloads (
    push_id INTEGER PRIMARY KEY,
    sealed BLOB NOT NULL
  );

  CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    push_id INTEGER NOT NULL,
    blob_key TEXT NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL,
    details_sealed BLOB NOT NULL
  );
  CREATE INDEX files_push ON files(push_id, id);

  -- sequence > 0: one event each; sequence < 0: -(kind + 1), the folded entry of that kind beyond the cap.
  CREATE TABLE audit_entries (
    push_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    user_id INTEGER,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    referrer TEXT NOT NULL,
    times INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (push_id, sequence)
  ) WITHOUT ROWID;

  -- due_at 0: at once, whatever the clock says.
  CREATE TABLE blob_deletions (
    blob_key TEXT PRIMARY KEY,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX blob_deletions_due ON blob_deletions(due_at);

  -- Files that belong to no push yet. anonymous_bytes: 0 when somebody signed in sends them.
  CREATE TABLE uploads (
    blob_key TEXT PRIMARY KEY,
    anonymous_bytes INTEGER NOT NULL,
    renewed_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX uploads_renewed ON uploads(renewed_at);
  `;
