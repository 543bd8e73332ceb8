import type { Database, ReadConnection, Transaction, WriteConnection } from "../../../src/database/database.ts";
import type { Value } from "../../../src/database/statement.ts";

/** An executed statement. */
export interface Run {
  readonly text: string;
  readonly parameters: readonly Value[];
}

/** The same database; `runs` gets every statement with its values, in order. */
export function recordRuns(db: Database, runs: Run[]): Database {
  const note = ({ postgres }: { readonly postgres: string }, parameters: readonly Value[]) =>
    runs.push({ text: postgres, parameters });
  const reading = (target: ReadConnection): ReadConnection => ({
    one(statement, ...parameters) {
      note(statement, parameters);
      return target.one(statement, ...parameters);
    },
    all(statement, ...parameters) {
      note(statement, parameters);
      return target.all(statement, ...parameters);
    },
  });
  const writing = (target: WriteConnection): WriteConnection => ({
    ...reading(target),
    run(statement, ...parameters) {
      note(statement, parameters);
      return target.run(statement, ...parameters);
    },
  });
  const recorded =
    <T>(work: (tx: Transaction) => Promise<T>) =>
    (tx: Transaction) =>
      work({ engine: tx.engine, ...writing(tx) });
  return {
    engine: db.engine,
    read: reading(db.read),
    lookUp: reading(db.read),
    autocommit: (options) => writing(db.autocommit(options)),
    hot: {
      read: reading(db.read).one,
      insert: writing(db.autocommit({ retry: "idempotent" })).run,
      update: (_row, ...statement) => writing(db.autocommit({ retry: "whenNotExecuted" })).one(...statement),
    },
    write: (work) => db.write(recorded(work)),
    untilKnown: (write) => db.untilKnown(write),
    writeSerialized: (turn, work) => db.writeSerialized(turn, recorded(work)),
    counts: db.counts,
    poolUse: () => db.poolUse(),
    answers: () => db.answers(),
    close: () => db.close(),
  };
}
