import { secondMs } from "../base/clock.ts";
import type { LinkDeliveryReport } from "../pushes/pushes.ts";

const secondsMax = 64;
/** Second -> its text up to the fraction. Most answers have times of a few seconds. */
const secondTexts = new Map<number, string>();

/** ISO 8601, UTC, with milliseconds. @throws RangeError for what is no time. */
export function timestamp(ms: number): string {
  const whole = Math.trunc(ms);
  const second = Math.floor(whole / secondMs);
  const fraction = String(whole - second * secondMs);
  return `${textOf(second)}${fraction.padStart(3, "0")}Z`;
}

function textOf(second: number): string {
  const known = secondTexts.get(second);
  if (known !== undefined) return known;
  const text = new Date(second * secondMs).toISOString().slice(0, -"000Z".length);
  if (secondTexts.size >= secondsMax) secondTexts.clear();
  secondTexts.set(second, text);
  return text;
}

export function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}

/** The value of `notify_by_email` in the API's audit answer and in exports. */
export function presentLinkDelivery(linkDelivery: LinkDeliveryReport) {
  const { recipients, locale, status, successfulSends, proceedAt, errorMessage } = linkDelivery;
  return {
    recipients,
    locale,
    status,
    successful_sends: successfulSends,
    proceed_at: timestampOrNull(proceedAt),
    ...(errorMessage === null ? {} : { error_message: errorMessage }),
  };
}
