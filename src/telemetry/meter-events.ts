import type { Happenings } from "./count-happenings.ts";
import type { Events } from "./events.ts";

/** The same events, counted as well as said: also those that are said once a second only. */
export function meterEvents(events: Events, happenings: Happenings): Events {
  return {
    ...events,
    storageFailed(code) {
      happenings.storageFailed();
      events.storageFailed(code);
    },
    unexpectedError(where, error) {
      happenings.unexpectedError();
      events.unexpectedError(where, error);
    },
    jobFailed(job, error) {
      happenings.jobFailed(job);
      events.jobFailed(job, error);
    },
    jobDone(job, counts) {
      happenings.jobDone(job, counts);
      events.jobDone(job, counts);
    },
    mailSent(mail) {
      happenings.mail("sent");
      events.mailSent(mail);
    },
    mailPutOff(mail) {
      happenings.mail("put_off");
      events.mailPutOff(mail);
    },
    mailGivenUp(mail) {
      happenings.mail("given_up");
      events.mailGivenUp(mail);
    },
  };
}
