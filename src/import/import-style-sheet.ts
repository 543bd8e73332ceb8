import { readStyleSheet, type StyleSheetProblem } from "../branding/style-sheet.ts";
import type { ImportRun } from "./run-context.ts";
import { styleSheetId } from "./store/imported-rows.ts";

export async function importStyleSheet({ source, destination, results }: ImportRun): Promise<void> {
  const css = await source.styleSheet();
  if (css === undefined) return;
  if ((await destination.rows.find("style", styleSheetId)) !== undefined) {
    results.styleSheet.importedBefore += 1;
    return;
  }
  const read = await readStyleSheet(css);
  const present = await destination.findStyleSheet();
  const isOther = present !== undefined && !(read.ok && Buffer.from(read.css, "utf8").equals(present));
  if (isOther) return leaveOut("This server already has another style sheet, which stays.");
  if (!read.ok) return leaveOut(refusalOf(read.problem));
  const isNew = await destination.importStyleSheet(css);
  results.styleSheet[isNew ? "imported" : "importedBefore"] += 1;

  function leaveOut(reason: string): void {
    results.leaveOut("site_settings", styleSheetId, reason);
  }
}

const refusedParts = {
  at_rule: "a rule",
  function: "an address or a function call",
  address: "an address or a function call",
  property: "a property",
} as const;

/** In one sentence. */
function refusalOf(problem: StyleSheetProblem): string {
  if (problem.reason === "too_long") return `The style sheet has more than ${problem.bytesMax} bytes.`;
  const position = `line ${problem.line}, column ${problem.column}`;
  if (problem.reason === "unreadable") return `The style sheet cannot be read at ${position}.`;
  return `The style sheet has ${refusedParts[problem.reason]} at ${position} that this server does not allow.`;
}
