interface ActingUser {
  readonly id: number;
  readonly admin: boolean;
  /**
   * The service account of a group. Its links are not stored: administrators make tokens for it, which could read them. Absent: a person.
   */
  readonly isService?: boolean;
}

/** The caller of an operation on pushes. */
export interface Actor {
  /** null: not signed in, and no API token. */
  readonly user: ActingUser | null;
  /** Throttle key of the client: its IPv4 address, or its IPv6 /64 network. */
  readonly client: string;
  /** For the audit trail. */
  readonly address: string;
  readonly userAgent: string;
  /** As sent by the client; the audit trail stores it truncated and without secrets. */
  readonly referrer: string;
  /** The origin of this request, e.g. `https://push.example.com`. It identifies referrers of this server. */
  readonly ownOrigin: string;
  /**
   * The push answers a request of `user`, and somebody else sends it: the push becomes the user's, while the client is charged
   * for its bytes and recorded as its sender. Without a user, only the request leads to the push. The rules are those of the time
   * when the request was made.
   */
  readonly answersRequest?: { readonly maxMinutes: number | null };
}
