/**
 * Names and values of an env file, as container tools and shells write it: `NAME=value`, with `export` before it or not,
 * values in quotes or bare, comments, blank lines. The last line of a name counts. Nothing in it is run or expanded.
 */
export function parseEnvFile(text: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name = "", rest = ""] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name !== "") values[name] = bareValue(rest);
  }
  return values;
}

function bareValue(text: string): string {
  const [, double] = /^"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  if (double !== undefined) return double.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
  const [, single] = /^'([^']*)'/.exec(text) ?? [];
  return single ?? text.replace(/(^|\s)#.*$/, "").trim();
}
