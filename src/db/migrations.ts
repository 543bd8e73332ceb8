/**
 * The schema, one entry a version, applied in order and never edited once released. Times are integers (ms since the
 * epoch), ids are made by us (`ids.ts`), sealed values and digests are blobs: any SQL engine can hold the same shapes.
 */
export const migrations: readonly string[] = [
  `
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
  `,
  `
  -- password_hash '' is no password: such an account signs in elsewhere. confirmed_at: when its e-mail was proven.
  ALTER TABLE users ADD COLUMN confirmed_at INTEGER;
  ALTER TABLE users ADD COLUMN unconfirmed_email TEXT;
  ALTER TABLE users ADD COLUMN disabled_at INTEGER;
  ALTER TABLE users ADD COLUMN language TEXT;
  ALTER TABLE users ADD COLUMN push_defaults TEXT;
  ALTER TABLE users ADD COLUMN last_signed_in_at INTEGER;
  -- Wrong second factors since their window began: whoever guesses knows the password, so no stranger can fill it.
  ALTER TABLE users ADD COLUMN factor_failures INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE users ADD COLUMN factor_failures_since INTEGER NOT NULL DEFAULT 0;
  UPDATE users SET confirmed_at = created_at;

  -- Everybody signs in anew once: the older rows say neither where from nor what they still wait for.
  DROP TABLE sessions;
  CREATE TABLE sessions (
    digest BLOB PRIMARY KEY,
    id INTEGER NOT NULL UNIQUE,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    waits_for_factor INTEGER NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX sessions_user ON sessions(user_id);
  CREATE INDEX sessions_seen ON sessions(seen_at);

  -- scopes: words between blanks; null: all. networks: addresses and CIDR networks between commas; null: anywhere.
  ALTER TABLE api_tokens ADD COLUMN scopes TEXT;
  ALTER TABLE api_tokens ADD COLUMN networks TEXT;
  ALTER TABLE api_tokens ADD COLUMN expires_at INTEGER;
  ALTER TABLE api_tokens ADD COLUMN last_used_address TEXT;

  -- null: derived from the push's data key; set when an edit drew another data key, and sealed under that one.
  ALTER TABLE files ADD COLUMN key_sealed BLOB;

  -- Links that mails carry. purpose: 0 confirm the account, 1 reset the password, 2 change the e-mail to new_email.
  -- password_hash: of the sign-up that the mail answers; the account gets it when that very link is used.
  CREATE TABLE mailed_links (
    digest BLOB PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    purpose INTEGER NOT NULL,
    new_email TEXT,
    password_hash TEXT,
    created_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX mailed_links_user ON mailed_links(user_id, purpose);
  CREATE INDEX mailed_links_created ON mailed_links(created_at);

  -- Accounts that are gone, until nothing of their pushes is left and nothing that they began can be under way.
  CREATE TABLE departed_owners (
    user_id INTEGER PRIMARY KEY,
    departed_at INTEGER NOT NULL
  );

  -- Where somebody has signed in from before, as a digest of the network and the browser.
  CREATE TABLE known_places (
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, digest)
  ) WITHOUT ROWID;

  -- Only secrets that a code has confirmed. last_step, in Unix time / 30 s: no code of it or of an earlier one counts.
  CREATE TABLE totp_factors (
    user_id INTEGER PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
    secret_sealed BLOB NOT NULL,
    last_step INTEGER NOT NULL,
    confirmed_at INTEGER NOT NULL
  );
  CREATE TABLE backup_codes (
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    used_at INTEGER,
    PRIMARY KEY (user_id, digest)
  ) WITHOUT ROWID;
  CREATE TABLE passkeys (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    credential_id BLOB NOT NULL UNIQUE,
    public_key BLOB NOT NULL,
    sign_count INTEGER NOT NULL,
    transports TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
  );
  CREATE INDEX passkeys_user ON passkeys(user_id);
  -- Challenges that were answered, so that none counts twice. Open ones carry their own seal and lie nowhere: strangers
  -- may ask for as many as they like.
  CREATE TABLE passkey_challenges (
    digest BLOB PRIMARY KEY,
    answered_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX passkey_challenges_answered ON passkey_challenges(answered_at);

  -- Who a provider of single sign-on says somebody is.
  CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) WITHOUT ROWID;
  CREATE INDEX identities_user ON identities(user_id);
  -- Sign-ins on their way to the provider and back, and identities that wait for an account's owner to confirm them.
  CREATE TABLE sign_on_steps (
    digest BLOB PRIMARY KEY,
    step_sealed BLOB NOT NULL,
    client TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX sign_on_steps_created ON sign_on_steps(created_at);
  CREATE INDEX sign_on_steps_client ON sign_on_steps(client, created_at);

  -- Mails on their way. due_at null: given up. letter_sealed holds the recipient and, for some, a link that works.
  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    letter_sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER,
    attempts INTEGER NOT NULL,
    last_error TEXT
  );
  CREATE INDEX outbox_due ON outbox(due_at);

  -- What administrators did; email stays readable when the account is gone.
  CREATE TABLE admin_entries (
    id INTEGER PRIMARY KEY,
    created_at INTEGER NOT NULL,
    admin_id INTEGER,
    admin_email TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    address TEXT NOT NULL
  );

  -- The instance's own name, logo and style sheet.
  CREATE TABLE branding (
    name TEXT PRIMARY KEY,
    content BLOB NOT NULL,
    content_type TEXT NOT NULL,
    updated_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  `
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
  CREATE TABLE view_notices (
    push_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (push_id, sequence)
  ) WITHOUT ROWID;
  -- A row for each time that the link of a push was mailed; sequence: of the audit entry. sent and given_up are sets: the
  -- bit of value 2^n is the recipient at place n.
  CREATE TABLE dispatches (
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
  CREATE UNIQUE INDEX dispatches_push ON dispatches(push_id, sequence);
  -- To how many addresses somebody has had links mailed on one day (UTC, counted since the epoch), the latest.
  CREATE TABLE dispatch_days (
    owner_id INTEGER PRIMARY KEY,
    day INTEGER NOT NULL,
    recipient_count INTEGER NOT NULL
  );
  `,
];
