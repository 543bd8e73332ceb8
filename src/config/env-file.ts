const quotedMax = 64 * 1024;

/**
 * One assignment, with `export` before it or not. A quoted value may go over several lines, and is one only when nothing
 * but a comment follows it: container tools take quotes within a line as they stand, as in `NAME="A B" <a@example.com>`.
 */
const assignment = new RegExp(
  String.raw`^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*` +
    String.raw`(?:"((?:[^"\\]|\\[^]){0,${quotedMax}}?)"(?=[ \t]*(?:#.*)?$)|'([^']{0,${quotedMax}}?)'(?=[ \t]*(?:#.*)?$)|(.*)$)`,
  "gm",
);

/**
 * Names and values of an env file, as container tools and shells write it: `NAME=value`, with `export` before it or not,
 * values in quotes or bare, comments, blank lines. The last line of a name counts. Nothing in it is run or expanded.
 */
export function parseEnvFile(text: string): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const [, name = "", double, single, bare = ""] of text
    .replace(/^\u{feff}/u, "")
    .replaceAll("\r\n", "\n")
    .matchAll(assignment)) {
    values.set(name, double === undefined ? (single ?? withoutComment(bare)) : unescaped(double));
  }
  return Object.fromEntries(values);
}

/** What a shell unescapes between double quotes, and `\n`, as container tools do. Other backslashes stand for themselves. */
function unescaped(text: string): string {
  return text.replace(/\\(["\\$`n])/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
}

function withoutComment(text: string): string {
  return text.replace(/(^|[ \t])#.*$/, "").trim();
}
