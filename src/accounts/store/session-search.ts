import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { type SessionOfUser, type SessionWay, sessionWays } from "../account.ts";
import type { SessionsSince } from "./sessions.ts";
import { sessions } from "./tables.ts";
import { openUser, type UserRow, userColumns } from "./users.ts";

/** A position in the list. */
export type SessionPosition = Pick<SessionOfUser, "id" | "seenAt">;

/** Which sessions of all users are wanted. Times are in milliseconds since the epoch. */
export interface SessionSearch {
  /** A part of the email address; "": any. */
  readonly email: string;
  /** null: in any way. */
  readonly way: SessionWay | null;
  readonly seenAfter: number;
  readonly seenUntil: number;
  /** The list continues after it; null: from the session seen last. */
  readonly after: SessionPosition | null;
}

const reading = sessions.reading("seenAt", "address", "userAgent");
type Row = UserRow & UnopenedRow<typeof reading>;
type Parameters = [
  ...seen: [persistent: number, after: number, until: number, before: number, orIdBefore: number],
  ...begun: [createdAfter: number, way: number, orWay: number],
  ...asked: [email: string, limit: number],
];

/** Two reads, one for each value of `persistent`, so that an index gives each in its order. */
const searchBy = (emailContains: string) =>
  `SELECT ${userColumns}, ${reading.selectList} FROM sessions JOIN users ON users.id = sessions.user_id
   WHERE persistent = ? AND seen_at > ? AND seen_at <= ? AND (seen_at < ? OR sessions.id < ?)
     AND sessions.created_at > ? AND way BETWEEN ? AND ?
     AND ${emailContains} > 0 AND waits_for_factor = 0 AND disabled_at IS NULL
   ORDER BY seen_at DESC, sessions.id DESC LIMIT ?`;
export const sessionSearch = sql<Parameters, Row>({
  sqlite: searchBy("instr(users.email, ?)"),
  postgres: searchBy("strpos(users.email, ?)"),
});

export function createSessionSearch({ read }: Pick<Database, "read">, access: AccessKeys) {
  function open(row: Row): SessionOfUser | undefined {
    const session = reading.open(access, row);
    const user = openUser(access, row);
    // The MAC of the row names the user, and the join could name another one.
    if (session === undefined || user?.id !== session.userId) return undefined;
    const { id, createdAt, seenAt, address, userAgent, way } = session;
    return { id, createdAt, seenAt, address, userAgent, user, way };
  }

  /**
   * Complete sessions of all users, last seen first.
   * @returns `examined`: the positions of all rows that were read, also of those that this server did not write.
   */
  return async (
    { email, way, seenAfter, seenUntil, after }: SessionSearch,
    { idle, persistentIdle, createdAfter }: SessionsSince,
    limit: number,
  ): Promise<{ readonly found: readonly SessionOfUser[]; readonly examined: readonly SessionPosition[] }> => {
    const until = Math.min(seenUntil, after?.seenAt ?? seenUntil);
    const { here: first, break_glass: last } = sessionWays;
    const [least, most] = way === null ? [first, last] : [sessionWays[way], sessionWays[way]];
    const { seenAt: before, id: idBefore } = after ?? { seenAt: until + 1, id: 0 };
    const readOf = (persistent: number, endedSince: number) => {
      const since = Math.max(endedSince, seenAfter);
      return read.all(
        sessionSearch,
        persistent,
        since,
        until,
        before,
        idBefore,
        createdAfter,
        least,
        most,
        email,
        limit,
      );
    };
    const rows = (await Promise.all([readOf(0, idle), readOf(1, persistentIdle)]))
      .flat()
      .sort((one, other) => other.sessionSeenAt - one.sessionSeenAt || other.sessionId - one.sessionId)
      .slice(0, limit);
    return {
      found: rows.map(open).filter((session) => session !== undefined),
      examined: rows.map(({ sessionId: id, sessionSeenAt: seenAt }) => ({ id, seenAt })),
    };
  };
}
