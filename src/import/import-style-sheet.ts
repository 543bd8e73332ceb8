import type { StyleSheetProblem } from "../branding/branding.ts";
import { readStyleSheet } from "../branding/style-sheet.ts";
import type { ImportRun } from "./run-context.ts";

export async function importStyleSheet({ source, destination, results }: ImportRun): Promise<void> {
  const css = await source.styleSheet();
  if (css === undefined) return;
  const outcome = await destination.importStyleSheet(css);
  switch (outcome.outcome) {
    case "imported":
      results.styleSheet.imported += 1;
      return;
    case "imported_before":
      results.styleSheet.importedBefore += 1;
      return;
    case "other_style":
      return results.leaveOut("site_settings", 0, "This server already has another style sheet, which stays.");
    case "refused":
      return results.leaveOut("site_settings", 0, outcome.reason);
  }
}

/** Whether a style sheet, as this server would serve it, is the one that it serves. */
export async function isSameStyleSheet(css: string, served: Buffer): Promise<boolean> {
  const read = await readStyleSheet(css);
  return read.ok && Buffer.from(read.css, "utf8").equals(served);
}

/** Why a style sheet is refused, in one sentence. */
export function styleSheetRefusal(problem: StyleSheetProblem): string {
  if (problem.reason === "too_long") return `The style sheet has more than ${problem.bytesMax} bytes.`;
  const position = `line ${problem.line}, column ${problem.column}`;
  switch (problem.reason) {
    case "unreadable":
      return `The style sheet cannot be read at ${position}.`;
    case "at_rule":
      return `The style sheet has a rule at ${position} that this server does not allow.`;
    case "function":
    case "address":
      return `The style sheet has an address or a function call at ${position} that this server does not allow.`;
    case "property":
      return `The style sheet has a property at ${position} that this server does not allow.`;
  }
}
