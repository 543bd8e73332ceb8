import { type Clock, minuteMs } from "../base/clock.ts";
import type { Database } from "../database/database.ts";
import type { Events } from "../telemetry/events.ts";
import type { Mailer, MailFailure, Sending } from "./smtp.ts";
import { createEmailStore } from "./store/emails.ts";
import { createMailServerStore, type MailServerFailure } from "./store/mail-server.ts";

const checkEveryMs = minuteMs;

/**
 * Whether the mail server takes emails at all. A refused recipient or message never makes it unavailable: strangers could
 * otherwise close sign-up with an address that is refused.
 */
export function createMailServer(deps: {
  readonly db: Database;
  readonly mailer: Pick<Mailer, "check">;
  readonly clock: Clock;
  readonly events: Pick<Events, "mailServerUnavailable" | "mailServerAvailable">;
}) {
  const { db, clock, events } = deps;
  const store = createMailServerStore(db);
  const emails = createEmailStore(db);
  /** As of the last read: other processes change it too. */
  let known: MailServerFailure | undefined;
  /** undefined: this process has not checked yet. */
  let checkedAt: number | undefined;

  async function fail(part: MailServerFailure["part"], { code, sentence }: MailFailure): Promise<void> {
    const failure = { part, sentence };
    if (known?.part === part && known.sentence === sentence) return;
    if (await store.setFailure(failure)) events.mailServerUnavailable({ code });
    known = failure;
  }

  async function recover(): Promise<void> {
    if (await store.removeFailure()) events.mailServerAvailable();
    known = undefined;
  }

  async function check(stop: AbortSignal): Promise<void> {
    checkedAt = clock.now();
    const failure = await untilStopped(deps.mailer.check(), stop);
    if (failure === "stopped") return;
    if (failure === undefined) await recover();
    else await fail("connection", failure);
  }

  /** A check does not show whether the sender is accepted, so while emails wait, only sending one does. */
  const canCheck = async () => known?.part !== "sender" || !(await emails.hasWaiting(db.read, 1));

  return {
    /** What administrators are shown; undefined: the server is available. */
    failure: (): string | undefined => known?.sentence,

    /** Call it every second. Checks the server at the first call, and every minute while it is unavailable. */
    async watch(stop: AbortSignal): Promise<void> {
      if (checkedAt === undefined) return await check(stop);
      known = await store.find();
      // A check in the future was made before the clock was moved back.
      const isDue = known !== undefined && Math.abs(clock.now() - checkedAt) >= checkEveryMs;
      if (isDue && (await canCheck())) await check(stop);
    },

    /** Learns from an attempt to send an email. */
    async learn(sending: Sending, stop: AbortSignal): Promise<void> {
      switch (sending.outcome) {
        case "accepted":
          if (known !== undefined) await recover();
          return;
        case "unavailable":
          if (sending.senderRefused) await fail("sender", sending.failure);
          // The server may have closed the connection because of this message: a check decides.
          else if (known === undefined) await check(stop);
          return;
        case "refused":
        case "stopped":
          return;
      }
    },
  };
}

/** The check ends by its own timeouts, which a stop must not wait for. */
async function untilStopped<Result>(check: Promise<Result>, stop: AbortSignal): Promise<Result | "stopped"> {
  const stopped = Promise.withResolvers<"stopped">();
  const onStop = () => stopped.resolve("stopped");
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop, { once: true });
  try {
    return await Promise.race([check, stopped.promise]);
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}
