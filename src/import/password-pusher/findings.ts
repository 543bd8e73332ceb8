/** What is seen while rows are read and said of the whole installation: counts, and the first ids. */
export class Findings {
  readonly #ids = new Map<Finding, { count: number; readonly first: number[] }>();

  /** @param id of the row, as its table numbers it. */
  note(finding: Finding, id: number): void {
    const found = this.#ids.get(finding) ?? { count: 0, first: [] };
    found.count += 1;
    if (found.first.length < idsShown) found.first.push(id);
    this.#ids.set(finding, found);
  }

  sentences(): readonly string[] {
    return this.#told(() => true);
  }

  /** Those of something that does not come along. */
  losses(): readonly string[] {
    return this.#told((finding) => !warningsOnly.has(finding));
  }

  #told(which: (finding: Finding) => boolean): readonly string[] {
    return [...this.#ids]
      .filter(([finding]) => which(finding))
      .map(([finding, { count, first }]) => {
        const more = count > first.length ? ", …" : "";
        return `${count} ${count === 1 ? sentences[finding][0] : sentences[finding][1]} (${first.join(", ")}${more}).`;
      });
  }
}

const idsShown = 20;

/** Of one, of several; the ids follow. */
const sentences = {
  pushUnderDefaultKey: [
    "push was sealed under the published default key: whoever has a copy of the database has read it",
    "pushes were sealed under the published default key: whoever has a copy of the database has read them",
  ],
  userUnderDefaultKey: [
    "user's second factor was sealed under the published default key",
    "users' second factors were sealed under the published default key",
  ],
  backupCodesDropped: [
    "user's backup codes cannot be checked any more: they hang on a SECRET_KEY_BASE, which was not given. New ones must be made",
    "users' backup codes cannot be checked any more: they hang on a SECRET_KEY_BASE, which was not given. New ones must be made",
  ],
  auditEntryLeftOut: [
    "audit entry is left out, for its kind or its time is not known",
    "audit entries are left out, for their kind or their time is not known",
  ],
  trailUnreadable: [
    "push comes without its audit trail, which the database cannot read",
    "pushes come without their audit trails, which the database cannot read",
  ],
  notificationUnreadable: [
    "mail in an audit trail comes without what no key opens",
    "mails in audit trails come without what no key opens",
  ],
} as const;

export type Finding = keyof typeof sentences;

const warningsOnly: ReadonlySet<Finding> = new Set(["pushUnderDefaultKey", "userUnderDefaultKey"]);
