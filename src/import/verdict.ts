/** The result of comparing one row of the source with what was imported from it. */
export class Verdict {
  /** What is missing, does not open, or allows more than at the source. One sentence each, without secrets or names. */
  readonly failures: string[] = [];
  /** What people changed here, or at the source, since the import. */
  readonly changes: string[] = [];
  state: "open" | "ended" | "notNeeded" = "open";
  files = 0;
  fileBytes = 0;

  /** The row is not worth importing, or is kept no longer. */
  static notNeeded(): Verdict {
    const verdict = new Verdict();
    verdict.state = "notNeeded";
    return verdict;
  }

  fail(reason: string): this {
    this.failures.push(reason);
    return this;
  }

  change(reason: string): this {
    this.changes.push(reason);
    return this;
  }
}
