import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import { mailedLinks, users } from "./tables.ts";

/**
 * Password hashes are sealed under the master key, each for its user: the database alone allows no guessing, and a writer of
 * the database cannot set a password. A hash that does not open is reported and counts as absent.
 */
export class PasswordSeals {
  readonly access: AccessKeys;
  readonly #keyring: () => Keyring;

  constructor({ access, keyring }: { readonly access: AccessKeys; readonly keyring: () => Keyring }) {
    this.access = access;
    this.#keyring = keyring;
  }

  /** The columns of a user. @param passwordHash "": no password. */
  columnsOf(userId: number, passwordHash: string) {
    if (passwordHash === "") return { passwordSealed: null, hasPassword: false };
    const row = { id: userId, ownerId: userId };
    const passwordSealed = this.#keyring().seal(users.seals.password, row, Buffer.from(passwordHash, "utf8"));
    return { passwordSealed, hasPassword: true };
  }

  /** @returns "": the account has no password. */
  open(user: { readonly id: number; readonly hasPassword: boolean }, sealed: Buffer | null): string {
    if (!user.hasPassword || sealed === null) return "";
    const opened = this.#keyring().open(users.seals.password, { id: user.id, ownerId: user.id }, sealed);
    if (opened === undefined) this.access.reportForgedRow("users");
    return opened?.toString("utf8") ?? "";
  }

  /** The columns of a mailed link. @param passwordHash null: the link sets no password. */
  columnsOfLink(digest: Buffer, userId: number, passwordHash: string | null) {
    if (passwordHash === null) return { passwordSealed: null, setsPassword: false };
    const row = { id: digest, ownerId: userId };
    const passwordSealed = this.#keyring().seal(
      mailedLinks.seals.signUpPassword,
      row,
      Buffer.from(passwordHash, "utf8"),
    );
    return { passwordSealed, setsPassword: true };
  }

  /** @returns null: the link sets no password; undefined: this server did not write it. */
  openOfLink(
    link: { readonly digest: Buffer; readonly userId: number; readonly setsPassword: boolean },
    sealed: Buffer | null,
  ): string | null | undefined {
    if (!link.setsPassword) return null;
    const row = { id: link.digest, ownerId: link.userId };
    const opened = sealed === null ? undefined : this.#keyring().open(mailedLinks.seals.signUpPassword, row, sealed);
    if (opened === undefined) this.access.reportForgedRow("mailed_links");
    return opened?.toString("utf8");
  }
}
