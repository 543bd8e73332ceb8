/** A command as completion knows it. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  /** With their dashes. */
  readonly options: readonly string[];
  readonly completes?: "files" | readonly string[] | undefined;
  /** Words that follow the name, such as `create` in `user create`. */
  readonly subcommands?: readonly CompletedCommand[];
}

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** A script that completes the commands, their options and their arguments. */
export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  const rows = flatten(commands, "");
  switch (shell) {
    case "bash":
      return bashScript(rows);
    case "zsh":
      // zsh runs completions that are written for bash, once its own are initialized, which is left to the user's settings.
      return `#compdef sealpush
(( $+functions[compdef] )) || { autoload -U compinit && compinit -i; }
autoload -U +X bashcompinit && bashcompinit
${bashScript(rows)}`;
    case "fish":
      return fishScript(commands);
    default:
      return shell satisfies never;
  }
}

interface Row {
  /** The words after the program's name; empty for the program itself. */
  readonly path: string;
  readonly words: readonly string[];
  readonly takesFiles: boolean;
}

function flatten(commands: readonly CompletedCommand[], path: string): Row[] {
  const names = commands.map(({ name }) => name);
  const own: Row = { path, words: path === "" ? [...names, "help", "--help", "--version"] : names, takesFiles: false };
  return [
    own,
    ...commands.flatMap(({ name, options, completes, subcommands = [] }) => {
      const inner = path === "" ? name : `${path} ${name}`;
      if (subcommands.length > 0) return flatten(subcommands, inner);
      const words = [...options, ...(typeof completes === "object" ? completes : [])];
      return [{ path: inner, words, takesFiles: completes === "files" }];
    }),
  ];
}

/** The options whose value is a file or a folder. */
const fileOptions = [
  "--output",
  "-o",
  "--passphrase-file",
  "--new-passphrase-file",
  "--add-file",
  "--links",
  "--files",
  "--env-file",
  "--to",
  "--data-dir",
];

function bashScript(rows: readonly Row[]): string {
  const cases = rows.map(
    ({ path, words, takesFiles }) =>
      `    ${quoted(path)}) words=${quoted(words.join(" "))}; files=${takesFiles ? 1 : 0} ;;`,
  );
  return `_sealpush() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" word words="" files=0 at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case " ${rows.flatMap(({ path }) => (path === "" ? [] : [path.replaceAll(" ", "+")])).join(" ")} " in
      *" \${path:+$path+}$word "* | *" \${path:+$path+}$word+"*) path="\${path:+$path+}$word" ;;
    esac
  done
  case "\${path//+/ }" in
${cases.join("\n")}
  esac
  case "$previous" in
    ${fileOptions.join("|")}) words=""; files=1 ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = 1 ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}
complete -F _sealpush sealpush
`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = ["complete -c sealpush -f"];
  for (const { name, summary, options, completes, subcommands = [] } of commands) {
    lines.push(`complete -c sealpush -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
    const inCommand = quoted(`__fish_seen_subcommand_from ${name}`);
    const words = [...subcommands.map((inner) => inner.name), ...(typeof completes === "object" ? completes : [])];
    if (words.length > 0) lines.push(`complete -c sealpush -n ${inCommand} -a ${quoted(words.join(" "))}`);
    if (completes === "files") lines.push(`complete -c sealpush -n ${inCommand} -F`);
    const all = new Set([...options, ...subcommands.flatMap((inner) => inner.options)]);
    for (const option of all) {
      const name = option.startsWith("--") ? `-l ${option.slice(2)}` : `-s ${option.slice(1)}`;
      lines.push(`complete -c sealpush -n ${inCommand} ${name}${fileOptions.includes(option) ? " -r -F" : ""}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
