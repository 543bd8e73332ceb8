import { execFileSync } from "node:child_process";
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

test("the whole program knows the commands of the client and their summaries", () => {
  const own = verbs.filter(({ name }) => name !== "completion");
  expect(clientVerbSummaries).toEqual(Object.fromEntries(own.map(({ name, summary }) => [name, summary])));
  for (const { name } of own) expect(isForClient([name])).toBe(true);
  for (const argv of [[], ["serve"], ["completion", "bash"], ["help"], ["help", "serve"], ["constructor"]]) {
    expect(isForClient(argv)).toBe(false);
  }
});
