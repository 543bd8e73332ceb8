import { minuteMs, secondMs } from "../base/clock.ts";
import { unavailable } from "../base/errors.ts";
import { digest } from "../crypto/digests.ts";
import type { Database } from "../database/database.ts";
import { addToWindows } from "./store/windows.ts";

/** Requests of one client in its minute window and in its second window. */
export interface RequestTotals {
  readonly minute: RequestTotal;
  readonly second: RequestTotal;
}

export interface RequestTotal {
  readonly startedAt: number;
  readonly count: number;
}

export interface RequestCounts {
  /**
   * Adds the requests that this process has admitted since its last call.
   * @returns the totals of all processes. @throws AppError unavailable, quickly, because a request waits for it.
   */
  add(
    clientKey: string,
    passed: { readonly minute: number; readonly second: number },
    now: number,
  ): Promise<RequestTotals>;
}

/** A page that needs no database must not wait long for an unavailable one. */
const answerMsMax = 500;

export function createRequestCounts(db: Pick<Database, "autocommit">): RequestCounts {
  const autocommit = db.autocommit({ retry: "whenNotExecuted" });
  return {
    async add(clientKey, passed, now) {
      const minuteKey = digest(`requests of a minute ${clientKey}`);
      const secondKey = digest(`requests of a second ${clientKey}`);
      const minuteRow = [minuteKey, now, now + minuteMs, passed.minute] as const;
      const secondRow = [secondKey, now, now + secondMs, passed.second] as const;
      const rows = await withinMs(answerMsMax, autocommit.all(addToWindows, ...minuteRow, ...secondRow));
      const totalOf = (key: Buffer): RequestTotal => {
        const row = rows.find((found) => key.equals(found.key));
        if (row === undefined) throw new Error("The requests were not counted.");
        return row;
      };
      return { minute: totalOf(minuteKey), second: totalOf(secondKey) };
    },
  };
}

async function withinMs<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(unavailable("The database does not answer in time.", 2)), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
