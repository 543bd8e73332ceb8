import type { RowWarning } from "./source.ts";

/** Counts rows that the operator should know about, with the ids of the first ones. */
export class RowWarnings {
  readonly #rows = new Map<RowWarning, { count: number; readonly first: number[] }>();

  /** Called once for each row. @param id of the row in the source. */
  readonly add = (warning: RowWarning, id: number): void => {
    const found = this.#rows.get(warning) ?? { count: 0, first: [] };
    found.count += 1;
    if (found.first.length < idsShown) found.first.push(id);
    this.#rows.set(warning, found);
  };

  sentences(): readonly string[] {
    return [...this.#rows].map(([[one, several, advice], { count, first }]) => {
      const more = count > first.length ? ", …" : "";
      const ids = `${first.join(", ")}${more}`;
      return `${count} ${count === 1 ? one : several} (${ids}).${advice === undefined ? "" : ` ${advice}`}`;
    });
  }
}

const idsShown = 20;

/** What the readers of this package warn of. */
export const warnings = {
  pushUnderDefaultKey: [
    "push was sealed under the published default key, completely or in part: anybody with a copy of the database can read it, so change the secrets that matter",
    "pushes were sealed under the published default key, completely or in part: anybody with a copy of the database can read them, so change the secrets that matter",
  ],
  userUnderDefaultKey: [
    "user's two-step sign-in was sealed under the published default key",
    "users' two-step sign-ins were sealed under the published default key",
  ],
  notificationUnderDefaultKey: [
    "link delivery's addresses were sealed under the published default key",
    "link deliveries' addresses were sealed under the published default key",
  ],
  backupCodesLeft: [
    "user has backup codes, which are not imported: the user can create new ones after signing in with the authenticator app",
    "users have backup codes, which are not imported: they can create new ones after signing in with the authenticator app",
  ],
  pendingAddress: [
    "user has a new email address that waits for its confirmation. It is not imported, and the old address stays",
    "users have new email addresses that wait for their confirmation. They are not imported, and the old addresses stay",
  ],
  locked: [
    "user is locked there for an hour because of wrong passwords, and is not locked here",
    "users are locked there for an hour because of wrong passwords, and are not locked here",
  ],
  adminUnreadable: [
    "user is imported without administrator rights, because the column admin cannot be read",
    "users are imported without administrator rights, because the column admin cannot be read",
  ],
} as const satisfies Readonly<Record<string, RowWarning>>;
