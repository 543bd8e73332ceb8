import type { SqliteDatabase } from "../src/database/sqlite/sqlite.ts";

interface IdRange {
  readonly first: number;
  readonly last: number;
}

const idsOfPushes = "pushes";
const secretsTable = "row_secrets";
const idColumns = [
  ["pushes", "id"],
  ["payloads", "push_id"],
] as const;

/**
 * Copies the rows of pushes under new ids: ten million pushes that nobody can claim, in minutes. The ids follow those that
 * the product has reserved, and the product continues after them.
 */
export class RowCopies {
  readonly #db: SqliteDatabase;
  #copiedTo = 0;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  /** Copies the pushes that were created since the last call, so many times each. */
  async add(copies: number): Promise<void> {
    const { writer } = this.#db;
    const number = (statement: string, ...parameters: number[]) =>
      Number(
        writer
          .prepare(statement)
          .pluck()
          .get(...parameters),
      );
    const pushes: IdRange = { first: this.#copiedTo + 1, last: number("SELECT max(id) FROM pushes") };
    const secret = (choice: "min" | "max") =>
      number(`SELECT ${choice}(row_secret_id) FROM pushes WHERE id BETWEEN ? AND ?`, pushes.first, pushes.last);
    const secrets: IdRange = { first: secret("min"), last: secret("max") };
    const nextId = number(`SELECT next_id FROM id_blocks WHERE name = '${idsOfPushes}'`);
    for (let copy = 0; copy < copies; copy += 1) {
      const shift = nextId + copy * lengthOf(pushes) - pushes.first;
      const secretShift = (copy + 1) * lengthOf(secrets);
      await this.#db.write(() => {
        this.#copy(secretsTable, { id: secretShift }, "id", secrets);
        for (const [table, id] of idColumns) this.#copy(table, { [id]: shift, row_secret_id: secretShift }, id, pushes);
      });
    }
    const end = nextId + copies * lengthOf(pushes);
    await this.#db.write(() => writer.prepare("UPDATE id_blocks SET next_id = ? WHERE name = ?").run(end, idsOfPushes));
    this.#copiedTo = end - 1;
  }

  #copy(table: string, shifts: Readonly<Record<string, number>>, id: string, { first, last }: IdRange): void {
    const { writer } = this.#db;
    const columns = writer.prepare<[], string>(`SELECT name FROM pragma_table_info('${table}')`).pluck().all();
    const values = columns.map((name) => (name in shifts ? `${name} + ${shifts[name]}` : name));
    writer
      .prepare(
        `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${table} WHERE ${id} BETWEEN ? AND ?`,
      )
      .run(first, last);
  }
}

const lengthOf = ({ first, last }: IdRange) => last - first + 1;
