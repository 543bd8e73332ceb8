import { minuteMs, secondMs } from "../base/clock.ts";
import { unavailable } from "../base/errors.ts";
import { withinMs } from "../base/within.ts";
import { digest } from "../crypto/digests.ts";
import type { Database } from "../database/database.ts";
import { addToWindows } from "./store/windows.ts";

export interface RequestTotal {
  readonly startedAt: number;
  readonly count: number;
}

/** A page that needs no database must not wait long for an unavailable one. */
const answerMsMax = 500;

export type RequestCounts = ReturnType<typeof createRequestCounts>;

/** Counts the requests of each client in a minute window and in a second window, across all processes. */
export function createRequestCounts(db: Pick<Database, "autocommit">) {
  const autocommit = db.autocommit({ retry: "whenNotExecuted" });
  return {
    /**
     * Adds the requests that this process has admitted since its last call.
     * @returns the totals of all processes. @throws AppError unavailable, quickly, because a request waits for it.
     */
    async add(clientKey: string, passed: { readonly minute: number; readonly second: number }, now: number) {
      const minuteKey = digest(`requests of a minute ${clientKey}`);
      const secondKey = digest(`requests of a second ${clientKey}`);
      const minuteRow = [minuteKey, now, now + minuteMs, passed.minute] as const;
      const secondRow = [secondKey, now, now + secondMs, passed.second] as const;
      const rows = await withinMs(answerMsMax, autocommit.all(addToWindows, ...minuteRow, ...secondRow), () => {
        throw unavailable("The database does not answer in time.", 2);
      });
      const totalOf = (key: Buffer): RequestTotal => {
        const row = rows.find((found) => key.equals(found.key));
        if (row === undefined) throw new Error("The requests were not counted.");
        return row;
      };
      return { minute: totalOf(minuteKey), second: totalOf(secondKey) };
    },
  };
}
