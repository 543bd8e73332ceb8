import { forBothEngines } from "./both-engines.ts";

export const version1 = forBothEngines(
  (sqlite, postgres) => `
  -- Values that exist once per domain, by name.
  CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE id_blocks (
    name TEXT PRIMARY KEY,
    next_id INTEGER NOT NULL
  ) WITHOUT ROWID;

${sqlite(`
  -- Sums that each write keeps up to date: counting the rows would take longer the more there are.
  CREATE TABLE totals (
    name TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
  ) WITHOUT ROWID;
  INSERT INTO totals (name, bytes) VALUES ('live_anonymous', 0);
`)}
${postgres(`
  -- A serialized transaction writes the row of its lock, so those of one lock run one after another over all processes.
  CREATE TABLE locks (
    name TEXT PRIMARY KEY
  );
  INSERT INTO locks (name) VALUES ('accounts'), ('mail'), ('keys'), ('uploads'), ('requests');
`)}
  CREATE TABLE processes (
    id TEXT PRIMARY KEY,
    active_key_id TEXT NOT NULL,
    key_ids TEXT NOT NULL,
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- The latest runs of each background job over all processes.
  CREATE TABLE job_runs (
    name TEXT PRIMARY KEY,
    every_ms INTEGER NOT NULL,
    started_at INTEGER,
    succeeded_at INTEGER,
    duration_ms INTEGER,
    failed_at INTEGER,
    failure TEXT
  ) WITHOUT ROWID;

  -- id: random, see drawUserId.
  -- mac, here and in other tables: authenticates the row's deciding columns. NULL: the row counts no more.
  -- second_factors: authenticator apps and passkeys together.
  -- password_sealed NULL: the account has no password and signs in by single sign-on.
  -- confirmed_at: when the owner proved that the email address is theirs.
  -- service_group_id: the account is not a person's: it has the pushes that the service tokens of this group make. Nobody signs in to it.
  -- factor_failures: wrong second factors since factor_failures_since. Only somebody who knows the password can add to them.
  CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    unconfirmed_email TEXT,
    password_sealed BLOB,
    admin INTEGER NOT NULL,
    language TEXT,
    push_defaults TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    confirmed_at INTEGER,
    disabled_at INTEGER,
    last_signed_in_at INTEGER,
    sign_in_count INTEGER NOT NULL DEFAULT 0,
    last_signed_on_at INTEGER,
    is_unused INTEGER NOT NULL DEFAULT 0,
    break_glass_at INTEGER,
    factor_failures INTEGER NOT NULL DEFAULT 0,
    factor_failures_since INTEGER NOT NULL DEFAULT 0,
    has_password INTEGER NOT NULL,
    second_factors INTEGER NOT NULL,
    service_group_id INTEGER,
    mac BLOB
  );
  CREATE INDEX users_created ON users(created_at, id);
  CREATE UNIQUE INDEX users_service ON users(service_group_id) WHERE service_group_id IS NOT NULL;

  -- way: 0 here, 1 single sign-on, 2 break-glass link.
  CREATE TABLE sessions (
    digest BLOB PRIMARY KEY,
    id INTEGER NOT NULL UNIQUE,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    way INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    waits_for_factor INTEGER NOT NULL,
    persistent INTEGER NOT NULL,
    proved_at INTEGER,
    admin_until INTEGER,
    provider_sid TEXT,
    provider_subject TEXT,
    provider_issued_at INTEGER,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    mac BLOB
  ) WITHOUT ROWID;
  CREATE INDEX sessions_user ON sessions(user_id);
  CREATE INDEX sessions_seen ON sessions(persistent, seen_at);
  CREATE INDEX sessions_provider_sid ON sessions(provider_sid) WHERE provider_sid IS NOT NULL;
  CREATE INDEX sessions_provider_subject ON sessions(provider_subject) WHERE provider_subject IS NOT NULL;

  -- scopes: separated by spaces; null: all. networks: addresses and CIDR networks separated by commas; null: any.
  CREATE TABLE api_tokens (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    networks TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    last_used_address TEXT,
    mac BLOB
  );
  CREATE INDEX api_tokens_user ON api_tokens(user_id);

  -- kind: 0 text, 1 file, 2 url, 3 qr. end_reason: 0 views, 1 time, 2 viewer, 3 owner.
  -- An ended anonymous push keeps its row as the tombstone: link check, kind, limits, times and reason.
  -- encryption, encryption_check: of content that was sealed before it reached the server, see docs/end-to-end.md.
  -- payload_format: 0 text, 1 fields (JSON).
  -- creator_address: of the client that created a live anonymous push. The creation of an owned push is its first audit entry.
  -- link_check: keyed, over the url_token, which contains the id. Links are found by the id, so it has no index.
  -- owner_check: keyed, over id, owner and link_check. NULL: there is no owner.
  -- is_answer 1: it answers a request of its owner.
  -- keeps_payload 1: claim_retries may have copies of the row secret, and the payload stays while it has.
  -- PostgreSQL: last_claim_id is the number of the last counted or logged view, chosen by the claim, so that a claim whose
  -- answer was lost can be looked up. The fill factor leaves room on each page: counting a view moves no row and changes
  -- no index.
  CREATE TABLE pushes (
    id INTEGER PRIMARY KEY,
    link_check BLOB NOT NULL,
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
    notify_on_view INTEGER NOT NULL DEFAULT 0,
    sender_shown INTEGER NOT NULL DEFAULT 0,
    seal_generation INTEGER NOT NULL,
    row_secret_id INTEGER NOT NULL,
    stored_bytes INTEGER NOT NULL,
    keeps_payload INTEGER NOT NULL DEFAULT 0,
    is_answer INTEGER NOT NULL DEFAULT 0,
    creator_address TEXT,
    encryption INTEGER NOT NULL DEFAULT 0,
    encryption_check TEXT,
    payload_format INTEGER NOT NULL DEFAULT 0,
    key_check BLOB NOT NULL,
    passphrase_salt BLOB,
    owner_check BLOB,
    token_sealed BLOB,
    name_sealed BLOB,
    note_sealed BLOB${postgres(",\n    last_claim_id BIGINT")}
  )${postgres(" WITH (fillfactor = 85)")};
  -- PostgreSQL: the included columns answer how much anonymous pushes hold, without a counter that all writes would wait for.
  CREATE INDEX pushes_due ON pushes(expires_at)${postgres(" INCLUDE (owner_id, stored_bytes)")} WHERE ended_at IS NULL;
  -- Two indexes: finding the few tombstones must not read an owner's long history, nor the other way round.
  CREATE INDEX pushes_tombstones ON pushes(ended_at) WHERE ended_at IS NOT NULL AND owner_id IS NULL;
  CREATE INDEX pushes_history ON pushes(ended_at) WHERE ended_at IS NOT NULL AND owner_id IS NOT NULL;
  -- The lists of an owner, by creation and by the time of the end. The kind is there to skip other kinds without reading their rows.
  CREATE INDEX pushes_owner ON pushes(owner_id, created_at, id, kind) WHERE owner_id IS NOT NULL;
  CREATE INDEX pushes_owner_active ON pushes(owner_id, created_at, id, kind) WHERE owner_id IS NOT NULL AND ended_at IS NULL;
  CREATE INDEX pushes_owner_end ON pushes(owner_id, coalesce(ended_at, expires_at), id, kind) WHERE owner_id IS NOT NULL;

  -- The links of imported pushes, which do not contain an id of this server.
  CREATE TABLE imported_links (
    digest BLOB PRIMARY KEY,
    push_id INTEGER NOT NULL UNIQUE
  ) WITHOUT ROWID;

  -- SQLite: rows are appended and overwritten in place, never moved. A moved row would leave a copy of its bytes in the
  -- unallocated part of a page, where secure_delete does not reach it. Hence an id of its own, and values of one length.
  -- PostgreSQL: id is that of the push. The row is deleted when the push ends; the server reuses the space at its own pace.
  CREATE TABLE row_secrets (
    id INTEGER PRIMARY KEY,
    sealed BLOB NOT NULL
  );

  -- The link secret of each account that has stored a link: what was sealed under it does not open once it is destroyed. As row
  -- secrets, but they live as long as their accounts, and would keep the job from removing overwritten row secrets before them.
  -- SQLite: rows are appended and overwritten in place, and never deleted.
  CREATE TABLE link_secrets (
    id ${sqlite("INTEGER")}${postgres("BIGINT GENERATED BY DEFAULT AS IDENTITY")} PRIMARY KEY,
    sealed BLOB NOT NULL
  );
  CREATE TABLE link_secret_users (
    user_id INTEGER PRIMARY KEY,
    link_secret_id INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Claims under an idempotency key of their client. A row stays at least as long as the push can be opened: no key counts a
  -- view twice. digest: keyed, of the key. row_secret_id: a copy of the push's row secret in the same table, which only that key
  -- opens and which lets the claim be repeated until expires_at; NULL: it is gone. earlier_*: the counted views before the
  -- claim, and the time of the last of them if it is known.
  CREATE TABLE claim_retries (
    push_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    row_secret_id INTEGER,
    expires_at INTEGER NOT NULL,
    earlier_views INTEGER NOT NULL,
    earlier_view_at INTEGER,
    PRIMARY KEY (push_id, digest)
  ) WITHOUT ROWID;
  CREATE INDEX claim_retries_expiry ON claim_retries(expires_at) WHERE row_secret_id IS NOT NULL;

  -- Requests of users to create a push under an idempotency key. digest: keyed, of the key. taken_at: by the database's clock.
  -- given: which settings the request named, a bit each.
  CREATE TABLE creation_keys (
    user_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    push_id INTEGER NOT NULL,
    taken_at INTEGER NOT NULL,
    given INTEGER NOT NULL,
    PRIMARY KEY (user_id, digest)
  ) WITHOUT ROWID;
  CREATE INDEX creation_keys_taken ON creation_keys(taken_at);

  CREATE TABLE payloads (
    push_id INTEGER PRIMARY KEY,
    sealed BLOB NOT NULL
  );
${postgres(`
  -- Sealed bytes cannot be compressed.
  ALTER TABLE payloads ALTER COLUMN sealed SET STORAGE EXTERNAL;
`)}
  -- position: the order of the form; an edit adds files at the end. Ids come from several processes and have no order.
  -- key_sealed: each file has a random key, sealed under the key of its push.
  CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    push_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    blob_key TEXT NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL,
    details_sealed BLOB NOT NULL,
    key_sealed BLOB NOT NULL
  );
  CREATE UNIQUE INDEX files_push ON files(push_id, position);

  -- sequence > 0: one event each; sequence < 0: -(kind + 1), the entry that sums up the events of a kind beyond the cap.
  -- PostgreSQL: claim_id is the number of the view that the entry logs; see pushes.last_claim_id.
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
    updated_at INTEGER NOT NULL,${postgres("\n    claim_id BIGINT,")}
    PRIMARY KEY (push_id, sequence)
  ) WITHOUT ROWID;

  -- Counted views whose owner has not been notified yet. sequence: of the audit entry.
  CREATE TABLE view_notifications (
    push_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (push_id, sequence)
  ) WITHOUT ROWID;

  -- One row for each mailing of a push's link. sequence: of the audit entry. sent and given_up are sets of recipients: bit n
  -- is the recipient at index n.
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
  -- The latest day (UTC, days since the epoch) on which an owner had links mailed, and to how many addresses.
  CREATE TABLE link_delivery_days (
    owner_id INTEGER PRIMARY KEY,
    day INTEGER NOT NULL,
    recipient_count INTEGER NOT NULL
  );

  -- Requests of administrators to end all pushes that match. network: of the address that created them, '': any. owners: 0
  -- all, 1 anonymous, 2 owned. last_id: the push that was examined last.
  CREATE TABLE bulk_endings (
    id ${sqlite("INTEGER")}${postgres("BIGINT GENERATED BY DEFAULT AS IDENTITY")} PRIMARY KEY,
    network TEXT NOT NULL,
    created_before INTEGER NOT NULL,
    larger_than_bytes INTEGER NOT NULL,
    owners INTEGER NOT NULL,
    admin_id INTEGER,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    ended_bytes INTEGER NOT NULL,
    finished_at INTEGER
  );
  CREATE INDEX bulk_endings_open ON bulk_endings(id) WHERE finished_at IS NULL;

  -- due_at 0: at once, whatever the clock says.
  CREATE TABLE blob_deletions (
    blob_key TEXT PRIMARY KEY,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX blob_deletions_due ON blob_deletions(due_at);

  -- digest: keyed, of the ticket. row_secret_id: the file's key in the table of row secrets, which only the ticket opens.
  -- waits_for_store: the store could not give the file and has not answered since; expires_at is then latest_expiry.
  CREATE TABLE download_tickets (
    digest BLOB PRIMARY KEY,
    push_id INTEGER NOT NULL,
    file_id INTEGER NOT NULL,
    row_secret_id INTEGER NOT NULL,
    waits_for_store INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    latest_expiry INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX download_tickets_file ON download_tickets(push_id, file_id);
  CREATE INDEX download_tickets_expiry ON download_tickets(expires_at) WHERE waits_for_store = 0;
  CREATE INDEX download_tickets_waiting ON download_tickets(expires_at) WHERE waits_for_store = 1;

  -- Files that belong to no push yet. anonymous_bytes: 0 when the sender is signed in.
  CREATE TABLE uploads (
    blob_key TEXT PRIMARY KEY,
    anonymous_bytes INTEGER NOT NULL,
    renewed_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX uploads_renewed ON uploads(renewed_at);

  -- Files that are sent in several requests; each also has its row in uploads. digest: keyed, of the upload's address.
  -- row_secret_id: the file's key in the table of row secrets, which only the address opens. client: '' for a user's upload.
  -- received_bytes: durable and acknowledged. run: the request that is writing, until run_until at least; 0: none, and every
  -- sealed byte is acknowledged.
  CREATE TABLE resumable_uploads (
    digest BLOB PRIMARY KEY,
    blob_key TEXT NOT NULL,
    file_id INTEGER NOT NULL,
    owner_id INTEGER,
    client TEXT NOT NULL,
    row_secret_id INTEGER NOT NULL,
    details_sealed BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    run INTEGER NOT NULL,
    run_until INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX resumable_uploads_blob ON resumable_uploads(blob_key);
  CREATE INDEX resumable_uploads_sender ON resumable_uploads(owner_id, client);
  CREATE INDEX resumable_uploads_expiry ON resumable_uploads(expires_at);

  -- Requests for secrets. link_check: keyed, over the url_token, which contains the id. details_sealed: what is asked for, a
  -- digest of the url_token, and the age recipient of the answers. token_sealed: the url_token of a user's request; NULL: it is not
  -- stored. answers: how many have come.
  CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    owner_id INTEGER REFERENCES users(id) ON DELETE CASCADE,
    link_check BLOB NOT NULL,
    details_sealed BLOB NOT NULL,
    token_sealed BLOB,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    closed_at INTEGER,
    answers_max INTEGER NOT NULL,
    answers INTEGER NOT NULL
  );
  CREATE INDEX requests_owner ON requests(owner_id, created_at, id);
  CREATE INDEX requests_expiry ON requests(expires_at);
  -- The pushes that answer a request. number: from 1, in the order in which they came.
  CREATE TABLE request_answers (
    request_id INTEGER NOT NULL REFERENCES requests(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    push_id INTEGER NOT NULL,
    PRIMARY KEY (request_id, number)
  ) WITHOUT ROWID;

  -- Links sent by email. purpose: 0 confirm the account, 1 reset the password, 2 change the email address to new_email,
  -- 3 choose the first password.
  -- password_sealed: the password of the sign-up; the account gets it when this link is used.
  CREATE TABLE mailed_links (
    digest BLOB PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    purpose INTEGER NOT NULL,
    new_email TEXT,
    password_sealed BLOB,
    sets_password INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    mac BLOB
  ) WITHOUT ROWID;
  CREATE INDEX mailed_links_user ON mailed_links(user_id, purpose);
  CREATE INDEX mailed_links_created ON mailed_links(created_at);

  -- Ids of deleted accounts, until none of their pushes is left and no request that they began can still be running.
  CREATE TABLE deleted_users (
    user_id INTEGER PRIMARY KEY,
    deleted_at INTEGER NOT NULL
  );

  -- Clients that an account has signed in from before: digests of the network and the browser.
  CREATE TABLE known_clients (
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, digest)
  ) WITHOUT ROWID;

  -- Only secrets that a code has confirmed. last_step, in Unix time / 30 s: codes of this step and of earlier ones are refused.
  CREATE TABLE totp_factors (
    user_id INTEGER PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
    secret_sealed BLOB NOT NULL,
    last_step INTEGER NOT NULL,
    confirmed_at INTEGER NOT NULL
  );
  -- A code that has been used has no row.
  CREATE TABLE backup_codes (
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
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
    last_used_at INTEGER,
    mac BLOB
  );
  CREATE INDEX passkeys_user ON passkeys(user_id);
  -- Answered challenges, so that none is accepted twice. Open ones carry their own seal and are not stored: anybody may
  -- request any number of them.
  CREATE TABLE passkey_challenges (
    digest BLOB PRIMARY KEY,
    answered_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX passkey_challenges_answered ON passkey_challenges(answered_at);

  -- key: "sid ..." or "sub ...". issued_at: in seconds, by the provider's clock.
  CREATE TABLE provider_logouts (
    key TEXT PRIMARY KEY,
    issued_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- Accounts' identities at providers of single sign-on.
  CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    object_id TEXT,
    moves_by_object_id INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    mac BLOB,
    PRIMARY KEY (issuer, subject)
  ) WITHOUT ROWID;
  CREATE INDEX identities_moving ON identities(issuer, object_id) WHERE moves_by_object_id = 1;
  CREATE INDEX identities_user ON identities(user_id);
  -- What the provider says about accounts over SCIM. name_key: user_name, in one spelling for all that are the same.
  CREATE TABLE scim_users (
    id INTEGER PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
    user_name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    external_id TEXT UNIQUE,
    is_made INTEGER NOT NULL,
    is_deleted INTEGER NOT NULL,
    has_disabled INTEGER NOT NULL,
    has_given_address INTEGER NOT NULL,
    mac BLOB
  );
  CREATE INDEX scim_users_name ON scim_users(name_key);
  -- Sign-ins that were redirected to a provider, and identities that the account's owner has still to confirm.
  CREATE TABLE sign_on_steps (
    digest BLOB PRIMARY KEY,
    step_sealed BLOB NOT NULL,
    client TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX sign_on_steps_created ON sign_on_steps(created_at);
  CREATE INDEX sign_on_steps_client ON sign_on_steps(client, created_at);

  -- Emails to be sent. due_at null: given up. email_sealed holds the recipient and, for some, a link that works.
  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    email_sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER,
    attempts INTEGER NOT NULL,
    last_error TEXT
  );
  CREATE INDEX outbox_due ON outbox(due_at);

  -- What administrators did. admin_email stays readable after the account is deleted.
  CREATE TABLE admin_audit_entries (
    id ${sqlite("INTEGER")}${postgres("BIGINT GENERATED BY DEFAULT AS IDENTITY")} PRIMARY KEY,
    created_at INTEGER NOT NULL,
    admin_id INTEGER,
    admin_email TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    address TEXT NOT NULL
  );

  -- The instance's own name, logo, accent colour and style sheet, one row each.
  CREATE TABLE theme_parts (
    name TEXT PRIMARY KEY,
    content BLOB NOT NULL,
    content_type TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    mac BLOB
  ) WITHOUT ROWID;

  -- claim: members are also the users whose groups claim had this value when they last signed on; NULL: nobody else.
  -- shares_activity: members see the names, states and trails of each other's pushes.
  CREATE TABLE user_groups (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    claim TEXT,
    shares_activity INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    mac BLOB
  );
  -- by_claim: the provider of single sign-on made the user a member; 0: an administrator did. A user can be both.
  CREATE TABLE group_members (
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    group_id INTEGER NOT NULL REFERENCES user_groups(id) ON DELETE CASCADE,
    by_claim INTEGER NOT NULL,
    added_at INTEGER NOT NULL,
    mac BLOB,
    PRIMARY KEY (user_id, group_id, by_claim)
  ) WITHOUT ROWID;
  CREATE INDEX group_members_group ON group_members(group_id);

  -- The rules for new pushes that administrators set. scope: 'instance', 'everybody else' or 'group' and the group's id; each group
  -- has a row. rules: JSON. revision grows with each change.
  CREATE TABLE policies (
    scope TEXT PRIMARY KEY,
    group_id INTEGER UNIQUE REFERENCES user_groups(id) ON DELETE CASCADE,
    rules TEXT NOT NULL,
    revision INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    mac BLOB
  ) WITHOUT ROWID;

  -- Named settings for new pushes. scope: 'instance', or 'group' or 'user' and its id. settings: JSON. At most one of a scope is the
  -- default.
  CREATE TABLE presets (
    scope TEXT NOT NULL,
    group_id INTEGER REFERENCES user_groups(id) ON DELETE CASCADE,
    user_id INTEGER REFERENCES users(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    is_default INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    mac BLOB,
    PRIMARY KEY (scope, name)
  ) WITHOUT ROWID;
  CREATE INDEX presets_group ON presets(group_id);
  CREATE INDEX presets_user ON presets(user_id);

  -- Imported users and pushes, so that another run imports nothing twice. source: the installation. run: the import that
  -- created the row. missing_parts: separated by spaces, what could not be imported; '': complete. snapshot: in one row of each
  -- source, of the kind 'source', what its tables held when the first row was imported. The counts are of what was imported with
  -- a push.
  CREATE TABLE imported_rows (
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    source_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    run TEXT NOT NULL,
    missing_parts TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    audit_entries INTEGER NOT NULL,
    notifications INTEGER NOT NULL,
    files INTEGER NOT NULL,
    mac BLOB,
    PRIMARY KEY (source, kind, source_id)
  ) WITHOUT ROWID;
${postgres(`
  -- Counters of the limits over all processes. key: a digest of the client or account. Unlogged: no request waits for a
  -- disk, and a crash or a failover loses only these counters.
  CREATE UNLOGGED TABLE limit_windows (
    key BLOB PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    count INTEGER NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX limit_windows_end ON limit_windows(ends_at);
  -- charged_at: the time and the number of each attempt (limits/store/sliding.ts).
  CREATE UNLOGGED TABLE limit_attempts (
    key BLOB PRIMARY KEY,
    charged_at INTEGER[] NOT NULL,
    ends_at INTEGER NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX limit_attempts_end ON limit_attempts(ends_at);
`)}`,
);
