/** Generated from the schemas of API v2 by `npm run docs`. */

export type CreatePushRequest = {
  readonly push: {
    /** The secret: 1 to 1,048,576 characters of text; 1 to 1,024 for qr; an absolute http or https URL of up to 8,192 characters for url; may be empty for file. */
    readonly payload?: string;
    /** An extension of Sealpush, instead of payload, for text and file: a structured secret of 1 to 30 fields. In forms, push[fields] is the list as JSON text. */
    readonly fields?: readonly ({
      /** 1 to 64 characters, not only blanks, and no control characters; each only once. */
      readonly label: string;
      /** 1 to 65,536 characters. */
      readonly value: string;
      /** Default: text. secret is hidden until asked for. otp shows one-time codes: the value is otpauth://totp/ with a base32 secret, SHA1, SHA256 or SHA512, 6 or 8 digits, and a period of 15 to 120 seconds. */
      readonly type?: "text" | "secret" | "otp";
    })[];
    /** An extension of Sealpush, for text and file: payload and files are age files, so that the server never sees the secret. The payload is armored and may have 1,048,576 characters before it is sealed. See docs/end-to-end.md. Without it the payload is taken as it is. */
    readonly encryption?: "age";
    /** With encryption: the first 32 hexadecimal digits of the SHA-256 of 'sealpush key check ' and the age identity in the link. The preview has it, so that a wrong link is found before it costs a view. */
    readonly encryption_check?: string;
    /** Needs a token unless the server allows anonymous file pushes. */
    readonly files?: readonly ({
      readonly filename: string;
      /** Default: the type that the file name implies. */
      readonly content_type?: string;
      /** The file's bytes, base64 with padding. */
      readonly data: string;
    })[];
    /** Default: file when files are sent, else text. */
    readonly kind?: "text" | "file" | "url" | "qr";
    /** Within the server's range, 1 to 90 by default. */
    readonly expire_after_days?: number;
    /** Within the server's range, 1 to 100 by default. */
    readonly expire_after_views?: number;
    /** Takes precedence over expire_after_days. 0: 15 min, 1: 30 min, 2: 45 min, 3: 1 h, 4: 6 h, 5: 12 h, 6 to 11: 1 to 6 days, 12: 1 week, 13: 2 weeks, 14: 3 weeks, 15: 30 days, 16: 60 days, 17: 90 days. */
    readonly expire_after_duration?: number;
    /** An extension of Sealpush: the instant at which the push ends, such as 2026-12-01T17:00:00Z or with an offset; seconds and milliseconds are optional. At least 60 seconds ahead, at most the server's longest life of the kind. Takes precedence over expire_after_duration and expire_after_days. */
    readonly expires_at?: string;
    /** An extension of Sealpush: the name of a preset of the caller, of one of their groups or of the server. What the request itself names wins; what rules do not allow is shortened to what they allow. /api/sealpush/presets lists them. */
    readonly preset?: string;
    /** Default: the server's for this kind. */
    readonly deletable_by_viewer?: boolean;
    /** People are asked to click before the secret is shown and the view is counted. */
    readonly retrieval_step?: boolean;
    /** Null or empty: none. It is not stored. */
    readonly passphrase?: string;
    /** A label only the owner sees. At most 2,048 characters. */
    readonly name?: string;
    /** A remark only the owner sees. At most 65,536 characters. */
    readonly note?: string;
    /** Up to 5 email addresses, separated by commas, to which the server mails the link. Needs a token, and a server whose version says that email_auto_dispatch is true. */
    readonly notify_emails_to?: string;
    /** The language of those emails and of the page behind their link, such as de or pt-BR. If the server does not support it, the emails are in the server's default language. */
    readonly notify_emails_to_locale?: string;
    /** An extension of Sealpush: the owner gets an email for each counted view by another person. Needs a token whose user has confirmed their email address (on the account's page), and a server that sends email. Default: false. */
    readonly notify_on_view?: boolean;
    /** An extension of Sealpush: everybody with the link sees the owner's current confirmed email address, before and after opening. Needs a token whose user has confirmed their email address. Default: false. */
    readonly sender_shown?: boolean;
  };
};

export type EditPushRequest = {
  readonly push: {
    /** The new secret, with the limits of a creation. Empty, for file: the text goes. */
    readonly payload?: string;
    /** An extension of Sealpush, instead of payload, for text and file: a structured secret of 1 to 30 fields. In forms, push[fields] is the list as JSON text. */
    readonly fields?: readonly ({
      /** 1 to 64 characters, not only blanks, and no control characters; each only once. */
      readonly label: string;
      /** 1 to 65,536 characters. */
      readonly value: string;
      /** Default: text. secret is hidden until asked for. otp shows one-time codes: the value is otpauth://totp/ with a base32 secret, SHA1, SHA256 or SHA512, 6 or 8 digits, and a period of 15 to 120 seconds. */
      readonly type?: "text" | "secret" | "otp";
    })[];
    /** Files to add. */
    readonly files?: readonly ({
      readonly filename: string;
      /** Default: the type that the file name implies. */
      readonly content_type?: string;
      /** The file's bytes, base64 with padding. */
      readonly data: string;
    })[];
    /** Files to remove, by their names: every file that has one of them. In forms, push[remove_files] is the list as JSON text. */
    readonly remove_files?: readonly ({
      readonly filename: string;
    })[];
    /** Counted from the creation; it must not be over. */
    readonly expire_after_days?: number;
    /** The total, with the views that were used; one must remain. */
    readonly expire_after_views?: number;
    /** Default: the server's for this kind. */
    readonly deletable_by_viewer?: boolean;
    /** People are asked to click before the secret is shown and the view is counted. */
    readonly retrieval_step?: boolean;
    /** A new passphrase. It is not stored. */
    readonly passphrase?: string;
    /** The push needs no passphrase any more. */
    readonly remove_passphrase?: boolean;
    /** The passphrase before the change. It is needed if a protected push keeps part of its content. */
    readonly current_passphrase?: string;
    /** A label only the owner sees. At most 2,048 characters. */
    readonly name?: string;
    /** A remark only the owner sees. At most 65,536 characters. */
    readonly note?: string;
    /** An extension of Sealpush: the owner gets an email for each counted view by another person. Needs a token whose user has confirmed their email address (on the account's page), and a server that sends email. Default: false. */
    readonly notify_on_view?: boolean;
    /** An extension of Sealpush: everybody with the link sees the owner's current confirmed email address, before and after opening. Needs a token whose user has confirmed their email address. Default: false. */
    readonly sender_shown?: boolean;
  };
};

export type Version = {
  readonly application_version: string;
  readonly api_version: "2.1";
  readonly edition: "oss";
  readonly features: {
    readonly anonymous_access: boolean;
    readonly api_token_authentication: true;
    readonly accounts: {
      readonly enabled: false;
    };
    readonly pushes: {
      readonly enabled: true;
      readonly email_auto_dispatch: boolean;
      readonly file_attachments: {
        readonly enabled: boolean;
        readonly requires_authentication: boolean;
      };
      readonly url_pushes: {
        readonly enabled: boolean;
      };
      readonly qr_code_pushes: {
        readonly enabled: boolean;
      };
    };
    readonly requests: {
      readonly enabled: false;
    };
  };
};

export type Features = {
  readonly features: readonly ("fields" | "sender_shown" | "expires_at" | "preset" | "policy" | "sign-on" | "scim")[];
};

export type Policy = {
  readonly passphrase: {
    readonly required: boolean;
    readonly min_length: number;
    readonly common_allowed: boolean;
  };
  readonly max_minutes: number | null;
  readonly max_views: number | null;
  readonly kinds: readonly ("text" | "file" | "url" | "qr")[];
  readonly encryption_required: boolean;
  readonly notify_on_view_required: boolean;
  readonly requests: boolean;
  readonly mail_domains: readonly (string)[] | null;
  readonly sources: readonly ({
    readonly from: "settings" | "instance" | "group";
    readonly name?: string;
  })[];
};

export type Presets = {
  readonly presets: readonly ({
    readonly name: string;
    readonly from: "own" | "group" | "instance";
    readonly group: string | null;
    /** The form of a new push starts with it, unless a nearer one is the default. */
    readonly default: boolean;
    readonly kind?: "text" | "file" | "url" | "qr";
    readonly expire_after_minutes?: number;
    readonly expire_after_views?: number;
    /** Default: the server's for this kind. */
    readonly deletable_by_viewer?: boolean;
    /** People are asked to click before the secret is shown and the view is counted. */
    readonly retrieval_step?: boolean;
    /** An extension of Sealpush: the owner gets an email for each counted view by another person. Needs a token whose user has confirmed their email address (on the account's page), and a server that sends email. Default: false. */
    readonly notify_on_view?: boolean;
    /** An extension of Sealpush: everybody with the link sees the owner's current confirmed email address, before and after opening. Needs a token whose user has confirmed their email address. Default: false. */
    readonly sender_shown?: boolean;
    /** What to ask for: labels and kinds, never values. */
    readonly fields?: readonly ({
      readonly label: string;
      readonly type: "text" | "secret" | "otp";
    })[];
  })[];
};

export type Push = {
  readonly expire_after_views: number;
  readonly expired: boolean;
  /** Empty in lists if the server does not store the link. */
  readonly url_token: string;
  readonly deletable_by_viewer: boolean;
  readonly retrieval_step: boolean;
  readonly expired_on: string | null;
  readonly passphrase: string | null;
  /** ISO 8601, UTC, milliseconds. */
  readonly created_at: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly updated_at: string;
  readonly expire_after_days: number;
  readonly days_remaining: number;
  readonly views_remaining: number;
  /** Ended by a person and not by a limit. */
  readonly deleted: boolean;
  /** Empty if the url_token is. */
  readonly json_url: string;
  /** The link to hand out; empty if the url_token is. */
  readonly html_url: string;
  readonly kind: "text" | "file" | "url" | "qr";
  readonly expires_at: string | null;
  /** The content is sealed for the key in the link; absent: it is not. */
  readonly encryption?: "age";
};

export type OwnedPush = Push & {
  /** Empty if there is none. */
  readonly name: string;
  /** Empty if there is none. */
  readonly note: string;
  /** Absent if there is no owner. */
  readonly sender_shown?: boolean;
};

export type CreatedPush = OwnedPush & {
  /** The fields that were sent, without their values; absent if there are none. */
  readonly fields?: readonly ({
    readonly label: string;
    readonly type: "text" | "secret" | "otp";
  })[];
  /** As sent; absent if the link is not mailed. */
  readonly notify_emails_to?: string;
  readonly notify_emails_to_locale?: string | null;
};

export type RetrievedPush = Push & {
  readonly payload: string | null;
  readonly files: readonly ({
    readonly filename: string;
    readonly content_type: string;
    /** Download address. It works for a limited time and needs no token. */
    readonly url: string;
  })[];
  /** Only of a push with fields. Its payload is their readable text. */
  readonly fields?: readonly ({
    readonly label: string;
    readonly value: string;
    readonly type: "text" | "secret" | "otp";
  })[];
  /** The confirmed address of the owner, if the push shows it and the account is not disabled. */
  readonly sender?: string;
};

export type PushList = readonly (OwnedPush)[];

export type Preview = {
  readonly url: string;
  /** The content is sealed for the key in the link; absent: it is not. */
  readonly encryption?: "age";
  /** As sent with the push: compare it with the key in the link before you retrieve the push. */
  readonly encryption_check?: string;
  /** With encryption: whether the payload is also sealed under a passphrase. */
  readonly encryption_passphrase?: boolean;
  /** The confirmed address of the owner, if the push shows it and the account is not disabled. */
  readonly sender?: string;
};

export type Audit = {
  readonly logs: readonly ({
    readonly ip: string;
    readonly user_agent: string;
    readonly referrer: string;
    readonly kind: "creation" | "view" | "failed_view" | "expire" | "failed_passphrase" | "admin_view" | "owner_view" | "edit" | "creation_email_send" | "download" | "repeated_view";
    readonly notify_by_email?: {
      /** Addresses, separated by commas. */
      readonly recipients: string;
      readonly locale: string | null;
      readonly status: "pending" | "processing" | "completed" | "partially_failed" | "failed";
      readonly successful_sends: string | null;
      readonly proceed_at: string | null;
      /** Present if an email failed. */
      readonly error_message?: string;
    };
    /** ISO 8601, UTC, milliseconds. */
    readonly created_at: string;
    /** ISO 8601, UTC, milliseconds. */
    readonly updated_at: string;
  })[];
};

export type NotifyEmailsRequest = {
  /** Up to 5 email addresses, separated by commas, to which the server mails the link. Needs a token, and a server whose version says that email_auto_dispatch is true. */
  readonly notify_emails_to: string;
  /** The language of those emails and of the page behind their link, such as de or pt-BR. If the server does not support it, the emails are in the server's default language. */
  readonly notify_emails_to_locale?: string;
};

export type CreateRequestRequest = {
  readonly request: {
    /** What is asked for, shown to those who answer. 1 to 200 characters. */
    readonly title?: string;
    /** Shown below the title. At most 4096 characters. */
    readonly note?: string;
    /** An answer may have a text. Default true. */
    readonly wants_text?: boolean;
    /** An answer may have files. Default false. */
    readonly wants_files?: boolean;
    /** 1 to 100; default 1. */
    readonly answers_max?: number;
    /** How long it can be answered; at most as long as pushes live. Default 7, or that if it is less. */
    readonly expire_after_days?: number;
    /** The age recipient (age1...) of a new identity, which answers are sealed for. */
    readonly recipient?: string;
    /** The first 32 hexadecimal digits of the SHA-256 of 'sealpush key check ' and that identity. The answers get it. */
    readonly encryption_check?: string;
    /** The identity as an armored age file under your passphrase, so that you can open the answers on any device. The operator can try passphrases on it: choose one that cannot be guessed. Empty: you keep the identity. Needs an API token. */
    readonly identity_sealed?: string;
    /** Without an API token: the 64 hexadecimal digits of the SHA-256 of 'sealpush request owner ' and that identity. Later they prove, as X-Request-Proof, that the request is yours. */
    readonly owner_proof?: string;
  };
};

export type Request = {
  /** Empty in lists if the server does not store the link. */
  readonly url_token: string;
  readonly title: string;
  readonly note: string;
  readonly wants_text: boolean;
  readonly wants_files: boolean;
  /** full: it has all the answers that it may have. */
  readonly state: "open" | "full" | "closed" | "expired";
  readonly expires_at: string;
  /** Seal the answer for this age recipient. */
  readonly recipient: string;
  /** The confirmed email address of the account that asks; null: it is not known who asks. */
  readonly asked_by: string | null;
};

export type OwnedRequest = {
  /** Empty in lists if the server does not store the link. */
  readonly url_token: string;
  readonly title: string;
  readonly note: string;
  readonly wants_text: boolean;
  readonly wants_files: boolean;
  /** full: it has all the answers that it may have. */
  readonly state: "open" | "full" | "closed" | "expired";
  readonly expires_at: string;
  /** Seal the answer for this age recipient. */
  readonly recipient: string;
  readonly created_at: string;
  /** How many have come. */
  readonly answers: number;
  readonly answers_max: number;
  readonly encryption_check: string;
  /** Empty: you keep the identity yourself. */
  readonly identity_sealed: string;
  /** The link to send to those who shall answer; empty if the url_token is. Behind # is the fingerprint of your recipient, which they compare: the first 32 hexadecimal digits of the SHA-256 of 'sealpush request recipient ' and the recipient. */
  readonly html_url: string;
  /** Your page of the answers, which the identity behind # opens; empty if the url_token is. */
  readonly answers_url: string;
};

export type RequestList = readonly (OwnedRequest)[];

export type RequestAnswers = OwnedRequest & {
  /** The answers, oldest first. Each is a push of yours: retrieve it as any other, and open what you get with the identity. */
  readonly pushes: readonly (OwnedPush)[];
};

export type AnswerFields = {
  /** The text. With encryption, an armored age file for the request's recipient, which contains the object of an answer that docs/end-to-end.md describes: it names the request, and with files their list. */
  readonly payload?: string;
  /** Payload and files are age files, so that the server never sees them; send it before the files. Without it the server seals what it receives for the recipient, and keeps nothing else. */
  readonly encryption?: "age";
};

export type Message = {
  readonly message: string;
};

export type Error = {
  readonly error: string;
};

export type WrongPassphrase = {
  readonly error: "That passphrase is incorrect.";
  readonly message: string;
  readonly status: "unauthorized";
};

export type FieldErrors = { readonly [name: string]: readonly (string)[] };

/** Minutes, by the number that `expire_after_duration` has. */
export const durationMinutes: readonly number[] = [15,30,45,60,360,720,1440,2880,4320,5760,7200,8640,10080,20160,30240,43200,86400,129600];
