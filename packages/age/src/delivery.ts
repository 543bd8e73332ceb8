import { sealedSize } from "./seal.ts";
import type { SealedFileDetails } from "./sealed-content.ts";

/** A file as the server delivers it. */
interface DeliveredFile {
  /** The name under which the sealed file is stored. */
  readonly stored: string;
  /** The size of the sealed file, as the server says; undefined: it does not say. */
  readonly bytes?: number;
}

/** How the delivered files differ from those that were sealed. */
export interface DeliveryProblem {
  /** `short`: fewer bytes than were sealed. */
  readonly problem: "missing" | "added" | "short";
  /** The file's own name; of an added one the name that the server gives it. */
  readonly name: string;
}

/**
 * The sealed list decides which files there are: nothing may be shown while the server delivers others.
 * @returns what is wrong; empty: nothing. Where the sizes are unknown, `openFile` finds files that were cut.
 */
export function deliveryProblems(
  list: readonly SealedFileDetails[],
  delivered: readonly DeliveredFile[],
): readonly DeliveryProblem[] {
  const left = [...delivered];
  const problems = list.flatMap(({ stored, name, size }): readonly DeliveryProblem[] => {
    const at = left.findIndex((file) => file.stored === stored);
    const [found] = at < 0 ? [] : left.splice(at, 1);
    if (found === undefined) return [{ problem: "missing", name }];
    // Other programs may write a longer header.
    return found.bytes !== undefined && found.bytes < sealedSize(size) ? [{ problem: "short", name }] : [];
  });
  return [...problems, ...left.map(({ stored }): DeliveryProblem => ({ problem: "added", name: stored }))];
}
