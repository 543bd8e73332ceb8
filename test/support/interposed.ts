import type { Database } from "../../src/database/database.ts";

/** The database with the test's own `write`; everything else is as it is. */
export function interposed(db: Database, write: Database["write"]): Database {
  return {
    engine: db.engine,
    read: db.read,
    lookUp: db.lookUp,
    autocommit: (options) => db.autocommit(options),
    hot: db.hot,
    write,
    writeSerialized: (turn, work) => db.writeSerialized(turn, work),
    get counts() {
      return db.counts;
    },
    keyDestroyed: () => db.keyDestroyed(),
    poolUse: () => db.poolUse(),
    answers: () => db.answers(),
    close: () => db.close(),
  };
}
