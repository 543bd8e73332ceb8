import type { SealpushClient } from "./client.ts";
import { ClientError } from "./errors.ts";
import { readLink } from "./link.ts";

/**
 * Whether opening this push would spend a view on a text that only the key in the whole link opens. Password Pusher has no such
 * pushes, a public gateway has no previews, and an unknown push is reported by its retrieval.
 */
export async function lacksKey(
  client: Pick<SealpushClient, "preview">,
  push: string,
  signal: AbortSignal,
): Promise<boolean> {
  if ((readLink(push)?.fragment ?? "") !== "") return false;
  try {
    return (await client.preview(push, { signal })).encryption === "age";
  } catch (error) {
    if (error instanceof ClientError && error.code === "not_found") return false;
    throw error;
  }
}

export const keyIsMissing =
  "This push is sealed end to end. Name its whole link with the part after #, which is its key. No view was spent.";
