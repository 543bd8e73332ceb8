import { exitCodesHelp } from "./io.ts";
import type { Option, Verb } from "./verb.ts";
import { optionsOf } from "./verb.ts";
import { verbs } from "./verbs.ts";

export const environmentHelp = `Environment: SEALPUSH_SERVER (the server's address), SEALPUSH_TOKEN (an API token for it), SEALPUSH_PASSPHRASE.`;

export function programHelp(): string {
  const rows = verbs.map(({ name, takes, summary }) => [`${name} ${takes ?? ""}`.trim(), summary] as const);
  return `Usage: sealpush [command] [options]

Share a secret once, from a shell.

Commands:
${columns(rows)}

${environmentHelp}
${exitCodesHelp}
`;
}

export function verbHelp(verb: Verb): string {
  const { name, takes, summary, details } = verb;
  const rows = optionsOf(verb).map((option) => [optionTerm(option), option.description] as const);
  return `Usage: sealpush ${name} [options]${takes === undefined ? "" : ` ${takes}`}

${summary}

Options:
${columns(rows)}

${details === undefined ? "" : `${details}\n\n`}${environmentHelp}
${exitCodesHelp}
`;
}

function optionTerm({ name, short, value }: Option): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([term]) => term.length));
  return rows.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`).join("\n");
}
