import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The installation that tests import. Its README describes the content. */
export const fixtureFolder = resolve(import.meta.dirname, "../../fixtures/password-pusher");

export interface Expected {
  readonly reference_time: string;
  readonly production: ExpectedInstallation;
  readonly default_key: ExpectedInstallation;
}

export interface ExpectedInstallation {
  readonly users: readonly ExpectedUser[];
  readonly pushes: readonly ExpectedPush[];
  readonly notify_by_emails: readonly ExpectedNotification[];
  readonly site_settings: { readonly custom_css?: string };
  readonly totals: {
    readonly users: number;
    readonly pushes: number;
    readonly audit_logs: number;
    readonly attachments: number;
    readonly audit_by_kind: Readonly<Record<string, number>>;
  };
}

export interface ExpectedUser {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly bcrypt_cost: number;
  readonly admin: boolean;
  readonly preferred_language: string | null;
  readonly confirmed: boolean;
  readonly api_token: string | null;
  readonly otp: {
    readonly secret: string;
    readonly enabled: boolean;
    readonly last_otp_timestep: number | null;
    readonly totp_at_reference: string;
    readonly backup_codes: readonly string[];
    readonly used_backup_codes: readonly string[];
  } | null;
  readonly created_at: string;
  readonly pushes: number;
}

export interface ExpectedPush {
  readonly tag: string;
  readonly id: number;
  readonly url_token: string;
  readonly kind: "text" | "file" | "url" | "qr";
  /** E-mail address; null: anonymous. */
  readonly owner: string | null;
  readonly name: string | null;
  readonly note: string | null;
  readonly payload: string | null;
  readonly passphrase: string | null;
  readonly payload_sha256: string | null;
  readonly unreadable: readonly ("payload" | "note" | "passphrase")[];
  readonly has_passphrase: boolean;
  readonly expire_after_days: number;
  readonly expire_after_views: number;
  readonly retrieval_step: boolean | null;
  readonly deletable_by_viewer: boolean | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly expired: boolean;
  readonly expired_on: string | null;
  readonly deleted: boolean;
  readonly counted_views: number;
  readonly at_reference: {
    readonly expired: boolean;
    readonly reason: "flag" | "days" | "views" | null;
    readonly days_remaining: number;
    readonly views_remaining: number;
  };
  readonly files: readonly ExpectedFile[];
  readonly audit_counts: Readonly<Record<string, number>>;
  readonly audit_total: number;
  readonly audit_oldest: ExpectedAuditEntry;
  readonly audit_newest: ExpectedAuditEntry;
}

export interface ExpectedFile {
  readonly filename: string;
  readonly shown_filename: string;
  readonly content_type: string | null;
  readonly byte_size: number;
  readonly sha256: string;
  readonly key: string;
}

export interface ExpectedAuditEntry {
  readonly kind: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly referrer: string | null;
  readonly user: string | null;
  readonly created_at: string;
}

export interface ExpectedNotification {
  readonly audit_log_id: number;
  readonly push_id: number;
  readonly recipients: string;
  readonly locale: string | null;
  readonly status: string;
  readonly successful_sends: string;
  readonly error_message?: string;
}

export const expected: Expected = JSON.parse(readFileSync(join(fixtureFolder, "expected.json"), "utf8"));
/** Milliseconds; states of `at_reference` hold then. */
export const referenceTime = Date.parse(expected.reference_time);
