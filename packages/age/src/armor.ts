/** The first line of an armored age file. */
export const beginning = "-----BEGIN AGE ENCRYPTED FILE-----";
/** The last one. */
export const end = "-----END AGE ENCRYPTED FILE-----";

/** Whether it begins as an armored age file; `findLock` reads the whole. */
export function isArmored(text: string): boolean {
  return text.startsWith(beginning);
}
