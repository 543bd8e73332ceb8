const quotedMax = 64 * 1024;

/**
 * One assignment, with or without `export`. A quoted value may span several lines, and is quoted only if nothing but a
 * comment follows it: container tools keep quotes within a value, as in `NAME="A B" <a@example.com>`.
 */
const assignment = new RegExp(
  String.raw`^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*` +
    String.raw`(?:"((?:[^"\\]|\\[^]){0,${quotedMax}}?)"(?=[ \t]*(?:#.*)?$)|'([^']{0,${quotedMax}}?)'(?=[ \t]*(?:#.*)?$)|(.*)$)`,
  "gm",
);

/**
 * Names and values of an env file, in the syntax of container tools and shells: `NAME=value`, with or without `export`,
 * values quoted or bare, comments, blank lines. The last line of a name wins. Nothing is executed or expanded.
 */
export function parseEnvFile(text: string): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const [, name = "", double, single, bare = ""] of plainLines(text).matchAll(assignment)) {
    values.set(name, double === undefined ? (single ?? withoutComment(bare)) : unescaped(double));
  }
  return Object.fromEntries(values);
}

/** The numbers of the lines that `parseEnvFile` passes over, although they are neither blank nor comments. */
export function unreadLines(text: string): readonly number[] {
  const rest = plainLines(text).replace(assignment, (read) => read.replace(/[^\n]/g, ""));
  return rest.split("\n").flatMap((line, index) => (/^\s*[^\s#]/.test(line) ? [index + 1] : []));
}

function plainLines(text: string): string {
  return text.replace(/^\u{feff}/u, "").replaceAll("\r\n", "\n");
}

/** Resolves the escapes of a shell in double quotes, and `\n` as container tools do. Other backslashes are kept. */
function unescaped(text: string): string {
  return text.replace(/\\(["\\$`n])/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
}

function withoutComment(text: string): string {
  return text.replace(/(^|[ \t])#.*$/, "").trim();
}
