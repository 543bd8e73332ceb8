import type { StyleSheetProblem } from "../branding/branding.ts";
import { readStyleSheet } from "../branding/style-sheet.ts";

/** Whether a style sheet, as it would be served here, is the one that is served. */
export async function isSameStyle(css: string, served: Buffer): Promise<boolean> {
  const read = await readStyleSheet(css);
  return read.ok && Buffer.from(read.css, "utf8").equals(served);
}

/** One sentence. */
export function refusalOfStyle(problem: StyleSheetProblem): string {
  if (problem.reason === "too_long") return `The style sheet has more than ${problem.bytesMax} bytes.`;
  const place = `line ${problem.line}, column ${problem.column}`;
  switch (problem.reason) {
    case "unreadable":
      return `The style sheet cannot be read at ${place}.`;
    case "at_rule":
      return `The style sheet has a rule at ${place} that is not served here.`;
    case "function":
    case "address":
      return `The style sheet names an address or calls a function at ${place} that is not served here.`;
    case "property":
      return `The style sheet has a property at ${place} that is not served here.`;
  }
}
