/** What `?done=` says there when the link has just been handed to the mails. */
export const mailed = "mailed";

/** The page with the link of a push. */
export function linkPagePath(urlToken: string, { isMailed }: { readonly isMailed: boolean }): string {
  return `/p/${urlToken}/preview${isMailed ? `?done=${mailed}` : ""}`;
}
