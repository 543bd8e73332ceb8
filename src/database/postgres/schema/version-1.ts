/** All that SQLite has at version 2: the first that PostgreSQL had. */
export const version1 = `
  CREATE TABLE meta (
    name TEXT COLLATE "C" PRIMARY KEY,
    value BYTEA NOT NULL
  );

  CREATE TABLE id_blocks (
    name TEXT COLLATE "C" PRIMARY KEY,
    next_id BIGINT NOT NULL
  );

  -- Units of one turn lock its row, so that they run one after the other over all processes.
  CREATE TABLE turns (
    name TEXT COLLATE "C" PRIMARY KEY
  );
  INSERT INTO turns (name) VALUES ('accounts'), ('mail'), ('keys');

  CREATE TABLE processes (
    id TEXT COLLATE "C" PRIMARY KEY,
    active_key_id TEXT COLLATE "C" NOT NULL,
    key_ids TEXT COLLATE "C" NOT NULL,
    seen_at BIGINT NOT NULL
  );

  CREATE TABLE users (
    id BIGINT PRIMARY KEY,
    email TEXT COLLATE "C" NOT NULL UNIQUE,
    password_hash TEXT COLLATE "C" NOT NULL,
    admin BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    confirmed_at BIGINT,
    unconfirmed_email TEXT COLLATE "C",
    disabled_at BIGINT,
    language TEXT COLLATE "C",
    push_defaults TEXT COLLATE "C",
    last_signed_in_at BIGINT,
    factor_failures BIGINT NOT NULL DEFAULT 0,
    factor_failures_since BIGINT NOT NULL DEFAULT 0
  );

  CREATE TABLE sessions (
    digest BYTEA PRIMARY KEY,
    id BIGINT NOT NULL UNIQUE,
    user_id BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    waits_for_factor BIGINT NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    user_agent TEXT COLLATE "C" NOT NULL
  );
  CREATE INDEX sessions_user ON sessions(user_id);
  CREATE INDEX sessions_seen ON sessions(seen_at);

  CREATE TABLE api_tokens (
    id BIGINT PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT,
    scopes TEXT COLLATE "C",
    networks TEXT COLLATE "C",
    expires_at BIGINT,
    last_used_address TEXT COLLATE "C"
  );
  CREATE INDEX api_tokens_user ON api_tokens(user_id);

  -- last_claim_id: of the last counted or logged view, drawn by who claims: a claim whose answer was lost is found by it.
  -- Room is left on each page, so that counting a view moves no row and touches no index.
  CREATE TABLE pushes (
    id BIGINT PRIMARY KEY,
    token_digest BYTEA NOT NULL UNIQUE,
    kind BIGINT NOT NULL,
    owner_id BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    end_reason BIGINT,
    expire_after_days BIGINT NOT NULL,
    expire_after_views BIGINT NOT NULL,
    views BIGINT NOT NULL,
    refusals BIGINT NOT NULL,
    audit_count BIGINT NOT NULL,
    deletable_by_viewer BIGINT NOT NULL,
    retrieval_step BIGINT NOT NULL,
    seal_generation BIGINT NOT NULL,
    data_key_id BIGINT NOT NULL,
    stored_bytes BIGINT NOT NULL,
    link_salt BYTEA NOT NULL,
    passphrase_salt BYTEA,
    token_sealed BYTEA,
    name_sealed BYTEA,
    note_sealed BYTEA,
    last_claim_id BIGINT
  ) WITH (fillfactor = 85);
  -- What it includes answers how much anonymous pushes hold, without a counter that all writes would wait for.
  CREATE INDEX pushes_due ON pushes(expires_at) INCLUDE (owner_id, stored_bytes) WHERE ended_at IS NULL;
  CREATE INDEX pushes_tombstones ON pushes(ended_at) WHERE ended_at IS NOT NULL AND owner_id IS NULL;
  CREATE INDEX pushes_history ON pushes(ended_at) WHERE ended_at IS NOT NULL AND owner_id IS NOT NULL;
  CREATE INDEX pushes_owner ON pushes(owner_id, created_at, id) WHERE owner_id IS NOT NULL;
  CREATE INDEX pushes_owner_active ON pushes(owner_id, created_at, id) WHERE owner_id IS NOT NULL AND ended_at IS NULL;

  -- id: that of its push. A key is deleted when its push ends; PostgreSQL reuses the space at its own pace.
  CREATE TABLE data_keys (
    id BIGINT PRIMARY KEY,
    sealed BYTEA NOT NULL
  );

  CREATE TABLE payloads (
    push_id BIGINT PRIMARY KEY,
    sealed BYTEA NOT NULL
  );
  -- Sealed bytes do not get smaller: nobody needs to try.
  ALTER TABLE payloads ALTER COLUMN sealed SET STORAGE EXTERNAL;

  CREATE TABLE files (
    id BIGINT PRIMARY KEY,
    push_id BIGINT NOT NULL,
    blob_key TEXT COLLATE "C" NOT NULL UNIQUE,
    size_bytes BIGINT NOT NULL,
    details_sealed BYTEA NOT NULL,
    key_sealed BYTEA
  );
  CREATE INDEX files_push ON files(push_id, id);

  -- claim_id: of the view that it logs; see pushes.last_claim_id.
  CREATE TABLE audit_entries (
    push_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    user_id BIGINT,
    address TEXT COLLATE "C" NOT NULL,
    user_agent TEXT COLLATE "C" NOT NULL,
    referrer TEXT COLLATE "C" NOT NULL,
    times BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    claim_id BIGINT,
    PRIMARY KEY (push_id, sequence)
  );

  CREATE TABLE blob_deletions (
    blob_key TEXT COLLATE "C" PRIMARY KEY,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL
  );
  CREATE INDEX blob_deletions_due ON blob_deletions(due_at);

  CREATE TABLE uploads (
    blob_key TEXT COLLATE "C" PRIMARY KEY,
    anonymous_bytes BIGINT NOT NULL,
    renewed_at BIGINT NOT NULL
  );
  CREATE INDEX uploads_renewed ON uploads(renewed_at);

  CREATE TABLE mailed_links (
    digest BYTEA PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    purpose BIGINT NOT NULL,
    new_email TEXT COLLATE "C",
    password_hash TEXT COLLATE "C",
    created_at BIGINT NOT NULL
  );
  CREATE INDEX mailed_links_user ON mailed_links(user_id, purpose);
  CREATE INDEX mailed_links_created ON mailed_links(created_at);

  CREATE TABLE deleted_users (
    user_id BIGINT PRIMARY KEY,
    deleted_at BIGINT NOT NULL
  );

  CREATE TABLE known_clients (
    user_id BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    digest BYTEA NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, digest)
  );

  CREATE TABLE totp_factors (
    user_id BIGINT PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
    secret_sealed BYTEA NOT NULL,
    last_step BIGINT NOT NULL,
    confirmed_at BIGINT NOT NULL
  );
  CREATE TABLE backup_codes (
    user_id BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    digest BYTEA NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, digest)
  );
  CREATE TABLE passkeys (
    id BIGINT PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    credential_id BYTEA NOT NULL UNIQUE,
    public_key BYTEA NOT NULL,
    sign_count BIGINT NOT NULL,
    transports TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
  );
  CREATE INDEX passkeys_user ON passkeys(user_id);
  CREATE TABLE passkey_challenges (
    digest BYTEA PRIMARY KEY,
    answered_at BIGINT NOT NULL
  );
  CREATE INDEX passkey_challenges_answered ON passkey_challenges(answered_at);

  CREATE TABLE identities (
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
  );
  CREATE INDEX identities_user ON identities(user_id);
  CREATE TABLE sign_on_steps (
    digest BYTEA PRIMARY KEY,
    step_sealed BYTEA NOT NULL,
    client TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
  );
  CREATE INDEX sign_on_steps_created ON sign_on_steps(created_at);
  CREATE INDEX sign_on_steps_client ON sign_on_steps(client, created_at);

  CREATE TABLE outbox (
    id BIGINT PRIMARY KEY,
    email_sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    due_at BIGINT,
    attempts BIGINT NOT NULL,
    last_error TEXT COLLATE "C"
  );
  CREATE INDEX outbox_due ON outbox(due_at);

  CREATE TABLE admin_entries (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    created_at BIGINT NOT NULL,
    admin_id BIGINT,
    admin_email TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL
  );

  CREATE TABLE branding (
    name TEXT COLLATE "C" PRIMARY KEY,
    content BYTEA NOT NULL,
    content_type TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL
  );

  -- What limits count over all processes, by a digest of whom or what they count. Without a log: no request waits for a
  -- disk, a crash or a failover forgets the counts and nothing else.
  CREATE UNLOGGED TABLE limit_windows (
    key BYTEA PRIMARY KEY,
    started_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    count BIGINT NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX limit_windows_end ON limit_windows(ends_at);
  -- charged_at: when each attempt was made.
  CREATE UNLOGGED TABLE limit_attempts (
    key BYTEA PRIMARY KEY,
    charged_at BIGINT[] NOT NULL,
    ends_at BIGINT NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX limit_attempts_end ON limit_attempts(ends_at);
  `;
