import type { Part, RelatedCounts } from "@sealpush/import-password-pusher";
import type { AdoptedUser, AdoptionDetails } from "../accounts/admin/adopt-user.ts";
import type { ImportedPush } from "../pushes/create/adopt-push.ts";
import type { ImportedRow, ImportedRows } from "./store/imported-rows.ts";

/** A user to import. */
export interface IncomingUser {
  readonly sourceId: number;
  readonly user: AdoptedUser;
  readonly missingParts: readonly Part[];
}

/** A push to import. */
export interface IncomingPush {
  readonly sourceId: number;
  readonly push: ImportedPush;
  readonly missingParts: readonly Part[];
  readonly related: RelatedCounts;
}

export type UserOutcome =
  /** `imported_before`: by another run of the same source. */
  | { readonly outcome: "imported" | "imported_before"; readonly imported: ImportedRow }
  | { readonly outcome: "email_taken" };

export type PushOutcome =
  | { readonly outcome: "imported"; readonly fileBytes: number }
  | { readonly outcome: "imported_before"; readonly imported: ImportedRow }
  | { readonly outcome: "link_taken" };

/** The destination of rows: the domain, or nothing in a dry run. */
export interface Destination {
  /** undefined: a dry run, which records nothing. */
  readonly run: string | undefined;
  /** The rows that were imported before. */
  readonly rows: ImportedRows;
  /** For the digest of the source's identities. The access secret, unlike the index secret, can be replaced. */
  readonly identitiesKey: Buffer;
  /** @param merge whether an existing account with the same email is the same person. */
  importUser(incoming: IncomingUser, merge: boolean): Promise<UserOutcome>;
  /** @throws the error of reading a file. */
  importPush(incoming: IncomingPush): Promise<PushOutcome>;
  /** The style sheet that this server has. */
  findStyleSheet(): Promise<Buffer | undefined>;
  /** @param css as `readStyleSheet` accepts it. @returns false: another run has imported it meanwhile. */
  importStyleSheet(css: string): Promise<boolean>;
}

export const identitiesKeyLabel = "imported rows";

/** What is recorded as missing. An existing account gets only the API token. */
export function missingOf({ missingParts }: IncomingUser, { merged, tokenTaken }: AdoptionDetails): readonly Part[] {
  const own = merged ? missingParts.filter((part) => part === "api_token") : missingParts;
  return tokenTaken ? [...own, "api_token"] : own;
}
