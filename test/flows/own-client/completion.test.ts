import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verbs } from "@sealpush/client/command";
import { describe, expect, test } from "vitest";
import { clientVerbSummaries, isForClient } from "../../../src/client-verbs.ts";
import { makeClientProgram } from "../../support/client-program.ts";

/** What bash would offer for the last word. */
async function completed(which: "whole" | "client", words: readonly string[]): Promise<string[]> {
  const program = makeClientProgram(which);
  const { stdout } = await program.run(["completion", "bash"]);
  const line = ["sealpush", ...words].map((word) => `'${word}'`).join(" ");
  const script = `${stdout}\nCOMP_WORDS=(${line})\nCOMP_CWORD=${words.length}\n_sealpush\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", script], { cwd: program.folder, encoding: "utf8" })
    .split("\n")
    .slice(0, -1);
}

describe.each(["whole", "client"] as const)("completion in bash by the program: %s", (which) => {
  test.each([
    [["pus"], which === "whole" ? ["push", "pushes"] : ["push"]],
    [["push", "--exp"], ["--expire"]],
    [["push", "--expire", "1h", "--vi"], ["--views"]],
    [["completion", "f"], ["fish"]],
    [["list", "--expire"], ["--expired"]],
    [["delete", "--y"], ["--yes"]],
  ])("%j", async (words, offered) => {
    expect(await completed(which, words)).toEqual(offered);
  });
});

test("the whole program completes the operator's commands too", async () => {
  expect(await completed("whole", ["user", "cre"])).toEqual(["create"]);
  expect(await completed("whole", ["token", "create", "--na"])).toEqual(["--name"]);
});

test.each(["zsh", "fish"])("a script for %s is printed", async (shell) => {
  const { stdout, exitCode } = await makeClientProgram("whole").run(["completion", shell]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(
    shell === "zsh" ? "#compdef sealpush" : "complete -c sealpush -n __fish_use_subcommand -a push -d ",
  );
});

/** Paths from the environment, e.g. `/usr/bin/zsh` of Debian's package. undefined: no tests in this shell. */
const { SEALPUSH_TEST_ZSH: zsh, SEALPUSH_TEST_FISH: fish } = process.env;

/** A program with the script of the shell in the file `script` of its folder, beside a file `plan.txt`. */
async function withScript(which: "whole" | "client", shell: string) {
  const program = makeClientProgram(which);
  const { stdout } = await program.run(["completion", shell]);
  writeFileSync(join(program.folder, "script"), stdout);
  writeFileSync(join(program.folder, "plan.txt"), "");
  // zsh stores the list of all completions in the home folder.
  return { cwd: program.folder, env: { ...process.env, HOME: program.folder }, encoding: "utf8" } as const;
}

/** What is typed at the prompt before the tabulator key, and the arguments that the shell then runs. */
const typed = [
  ["answ", "answer"],
  ["push --exp", "push --expire"],
  ["push --expire 1h --vi", "push --expire 1h --views"],
  ["push pl", "push plan.txt"],
  ["open --output pl", "open --output plan.txt"],
  ["completion f", "completion fish"],
  ["list --expire", "list --expired"],
] as const;

describe.runIf(zsh)("completion in zsh", () => {
  test.each([
    ["whole", ""],
    ["client", ""],
    ["client", "autoload -U compinit; compinit -u"],
  ] as const)("by the program: %s, with the settings %j", async (which, settings) => {
    const options = await withScript(which, "zsh");
    const keys = typed.map(([line]) => `'sealpush ${line}'`).join(" ");
    const session = `zmodload zsh/zpty; zpty z ${zsh} -f -i
zpty -w z '${settings}'$'\\nsource ./script; sealpush() { print -r -- "$*" >> ran; print -r -- "ran-$((++count))" }'
for line in ${keys}; do
  zpty -w -n z "$line"$'\\t\\n'; zpty -r -m z output "*ran-$((++count))*"
done`;
    execFileSync(zsh ?? "", ["-f", "-c", session], options);
    const ran = readFileSync(join(options.cwd, "ran"), "utf8").split("\n").slice(0, -1);
    expect(ran).toEqual(typed.map(([, completed]) => completed));
  });
});

describe.runIf(fish)("completion in fish", () => {
  test.each(["whole", "client"] as const)("by the program: %s", async (which) => {
    const options = await withScript(which, "fish");
    const lines = typed.map(([line]) => `complete -C 'sealpush ${line}'; echo ---`);
    const offered = execFileSync(fish ?? "", ["--no-config", "-c", `source script; ${lines.join("; ")}`], options)
      .split("---\n")
      .slice(0, -1)
      .map((list) => list.split("\t")[0]?.trim());
    expect(offered).toEqual(typed.map(([, completed]) => completed.split(" ").at(-1)));
  });
});

test("the whole program knows the commands of the client and their summaries", () => {
  const own = verbs.filter(({ name }) => name !== "completion");
  expect(clientVerbSummaries).toEqual(Object.fromEntries(own.map(({ name, summary }) => [name, summary])));
  for (const { name } of own) expect(isForClient([name])).toBe(true);
  for (const argv of [[], ["serve"], ["completion", "bash"], ["help"], ["help", "serve"], ["constructor"]]) {
    expect(isForClient(argv)).toBe(false);
  }
});
