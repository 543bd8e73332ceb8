/**
 * A last look before an address stands in a header and in an SMTP command, whoever made it: one mailbox, nothing that
 * ends a line or a list, or that only quotes would allow.
 */
export function isMailAddress(text: string): boolean {
  return /^[^\s\p{C}@"(),:;<>[\]\\]{1,64}@[\p{L}\p{M}\p{N}.-]{1,253}$/u.test(text);
}
