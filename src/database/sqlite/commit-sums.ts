import type { Statement } from "./driver.ts";

/** The sums of the open batch of transactions, by the statement that writes each of them. */
export class CommitSums {
  #sums = new Map<Statement<unknown[]>, number>();

  add(statement: Statement<unknown[]>, amount: number): void {
    this.#sums.set(statement, (this.#sums.get(statement) ?? 0) + amount);
  }

  /** @returns the function that undoes what is added from now on. */
  mark(): () => void {
    const before = new Map(this.#sums);
    return () => {
      this.#sums = before;
    };
  }

  /** The batch was rolled back. */
  clear(): void {
    this.#sums.clear();
  }

  /** Just before the commit. @throws the driver's errors. */
  write(): void {
    for (const [statement, sum] of this.#sums) if (sum !== 0) statement.run(sum);
    this.#sums.clear();
  }
}
