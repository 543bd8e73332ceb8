import type { LinkDeliveryReport } from "../pushes/pushes.ts";

/** ISO 8601, UTC, with milliseconds. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
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
