/** What people have: factors, sessions that wait, mails, single sign-on, the administrators' trail and the look. */
export const version2 = `
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
  CREATE TABLE deleted_users (
    user_id INTEGER PRIMARY KEY,
    deleted_at INTEGER NOT NULL
  );

  -- Where somebody has signed in from before, as a digest of the network and the browser.
  CREATE TABLE known_clients (
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

  -- Mails on their way. due_at null: given up. email_sealed holds the recipient and, for some, a link that works.
  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    email_sealed BLOB NOT NULL,
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
  `;
