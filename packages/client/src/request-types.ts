import type { CreateRequestRequest, OwnedRequest, Request as SecretRequest } from "./api-types.ts";
import type { NewFile } from "./multipart.ts";
import type { CallOptions } from "./transport.ts";

export type NewRequest = Omit<
  CreateRequestRequest["request"],
  "recipient" | "encryption_check" | "identity_sealed" | "owner_proof"
> & {
  /**
   * Seals the key under it, so that the answers open on any device: at least 12 characters that are not common, because the operator of the
   * server can try passphrases on the stored key. Without it the private link contains the key.
   */
  readonly passphrase?: string;
};

export type CreatedRequest = OwnedRequest & {
  /** Leads to the answers. It opens them, unless the key is sealed under a passphrase. */
  readonly private_link: string;
};

export type FoundRequest = SecretRequest & {
  /** Whether the link names the recipient. False: it was named by a token, or by a link without its end, so that the server may have sent another one. */
  readonly recipient_checked: boolean;
};

export interface NewAnswer {
  readonly payload?: string;
  readonly files?: readonly NewFile[];
}

export interface AnswersOptions extends CallOptions {
  readonly passphrase?: string | undefined;
  /** Gets another passphrase after a wrong one, or the first. Undefined: there is none. */
  readonly askPassphrase?: () => Promise<string | undefined>;
}
