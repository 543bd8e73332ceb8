import { expect, test } from "vitest";
import { type CommandIo, runCommand } from "./command.ts";

async function refusalOf(name: string): Promise<string> {
  let said = "";
  const io = { stderr: (text: string) => (said += text) } as unknown as CommandIo;
  expect(await runCommand([name], io)).toBe(2);
  return said;
}

const end = '"sealpush --help" lists the commands.\n';

test.each([
  ["psuh", "push"],
  ["opne", "open"],
  ["lst", "list"],
  ["whoamI", "whoami"],
  ["requests", "request"],
])("%s: a slip of the finger names the command that was meant", async (typed, meant) => {
  expect(await refusalOf(typed)).toBe(`error: unknown command '${typed}'. Did you mean ${meant}? ${end}`);
});

test.each(["xylophone", "e", "a".repeat(10_000)])("%s: no command is similar", async (typed) => {
  expect(await refusalOf(typed)).toBe(`error: unknown command '${typed}'. ${end}`);
});
