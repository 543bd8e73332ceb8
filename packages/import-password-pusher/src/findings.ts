/** What is seen while rows are read and said of the whole installation: counts, and the first ids. */
export class Findings {
  readonly #ids = new Map<Finding, { count: number; readonly first: number[] }>();

  /** Once for each row. @param id of the row, as its table numbers it. */
  note(finding: Finding, id: number): void {
    const found = this.#ids.get(finding) ?? { count: 0, first: [] };
    found.count += 1;
    if (found.first.length < idsShown) found.first.push(id);
    this.#ids.set(finding, found);
  }

  sentences(): readonly string[] {
    return [...this.#ids].map(([finding, { count, first }]) => {
      const more = count > first.length ? ", …" : "";
      return `${count} ${count === 1 ? sentences[finding][0] : sentences[finding][1]} (${first.join(", ")}${more}).`;
    });
  }
}

const idsShown = 20;

/** Of one, of several; the ids follow. */
const sentences = {
  pushUnderDefaultKey: [
    "push was sealed under the published default key, in whole or in part: whoever has a copy of the database can read it",
    "pushes were sealed under the published default key, in whole or in part: whoever has a copy of the database can read them",
  ],
  userUnderDefaultKey: [
    "user's second factor was sealed under the published default key",
    "users' second factors were sealed under the published default key",
  ],
  notificationUnderDefaultKey: [
    "mail's addresses were sealed under the published default key",
    "mails' addresses were sealed under the published default key",
  ],
  adminUnreadable: [
    "user comes along without the rights of an administrator: whether it has them (admin) cannot be read",
    "users come along without the rights of administrators: whether they have them (admin) cannot be read",
  ],
} as const;

export type Finding = keyof typeof sentences;
