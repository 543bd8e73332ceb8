import { equalDigests } from "./digests.ts";
import { deriveKey, keyedHash, type Part } from "./sodium.ts";

const digestBytes = 32;
const macBytes = 16;

/** What a digest identifies. A digest of one purpose is never found under another. */
export type AccessPurpose =
  | "session"
  | "api_token"
  | "mailed_link"
  | "backup_code"
  | "boot_code"
  | "sign_on_step"
  | "form_token";

/** Authenticates the rows that grant access. Its keys are derived from the access secret, which the database only has sealed. */
export class AccessKeys {
  readonly #digestKey: Buffer;
  readonly #macKey: Buffer;
  readonly #onForgedRow: (table: string) => void;

  /** @param secret 32 bytes. @param onForgedRow reports a row that this server did not write. */
  constructor(secret: Uint8Array, onForgedRow: (table: string) => void) {
    this.#onForgedRow = onForgedRow;
    this.#digestKey = deriveKey(secret, "sealpush access digests");
    this.#macKey = deriveKey(secret, "sealpush access rows");
  }

  /**
   * The digest by which a row is found, 32 bytes. Nobody without the access secret can compute it, so a writer of the database
   * cannot store one for a secret of their own.
   * @param parts the secret; before it, what the row belongs to, where a row could be moved to another user.
   */
  digest(purpose: AccessPurpose, ...parts: readonly Part[]): Buffer {
    return keyedHash(this.#digestKey, digestBytes, purpose, ...parts);
  }

  /** The MAC of a row, 16 bytes. @param values of its deciding columns, in a fixed order. */
  mac(table: string, values: readonly Part[]): Buffer {
    return keyedHash(this.#macKey, macBytes, table, ...values);
  }

  /** Whether this server wrote the row; if not, that is reported. @param mac null: the row does not count any more. */
  verifies(mac: Uint8Array | null, table: string, values: readonly Part[]): boolean {
    const genuine = mac !== null && equalDigests(mac, this.mac(table, values));
    if (!genuine) this.#onForgedRow(table);
    return genuine;
  }

  /** For rows with a sealed value that does not open. */
  reportForgedRow(table: string): void {
    this.#onForgedRow(table);
  }
}
