import { stat } from "node:fs/promises";
import packageJson from "../../package.json" with { type: "json" };
import type { Tool } from "../mcp/tool.ts";
import { makeTools } from "../mcp/tools.ts";
import { type CommandIo, CommandRefused, exitCodes, type Given, isSet, type RunVerb, textOf } from "./io.ts";
import { connect } from "./settings.ts";
import { systemProblem } from "./system-error.ts";

/** Answers a program on standard input and output until it closes them. */
export const mcp: RunVerb = async (given, io) => {
  const files = await sharedFolder(given);
  const { client } = await connect(given, io);
  const { McpServer, fromJsonSchema, serveStdio } = await loadSdk();
  const passphrase = io.environment.SEALPUSH_PASSPHRASE ?? "";
  const tools = makeTools({
    client,
    files,
    showsSecrets: isSet(given, "show-secrets"),
    passphrase: passphrase === "" ? undefined : passphrase,
    ask: oneAtATime(io.ask),
  });
  const handle = serveStdio(() => {
    const server = new McpServer({ name: "sealpush", version: packageJson.version });
    for (const tool of tools) {
      server.registerTool(
        tool.name,
        {
          description: tool.description,
          inputSchema: fromJsonSchema<Record<string, unknown>>(tool.input),
          annotations: { readOnlyHint: tool.isReadOnly, destructiveHint: tool.name === "end" },
        },
        (input) => answer(tool, input, io),
      );
    }
    return server;
  });
  await closed(io);
  await handle.close();
  return exitCodes.ok;
};

/** A model may call several tools at once. */
function oneAtATime(ask: CommandIo["ask"]): CommandIo["ask"] {
  if (ask === undefined) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (question, visibility) => {
    const answered = last.then(() => ask(question, visibility));
    last = answered.catch(() => undefined);
    return answered;
  };
}

/** Checked before the start: a model could not repair it. @throws CommandRefused usage if it is no folder. */
async function sharedFolder(given: Given): Promise<string | undefined> {
  const folder = textOf(given, "files");
  if (folder === undefined) return undefined;
  const problem = await stat(folder).then(
    (found) => (found.isDirectory() ? undefined : `${folder} is not a folder.`),
    (error: unknown) => {
      const found = systemProblem(error);
      if (found === undefined) throw error;
      return found;
    },
  );
  if (problem !== undefined) throw new CommandRefused(`--files must name a folder: ${problem}`, exitCodes.usage);
  return folder;
}

async function answer(tool: Tool, input: Readonly<Record<string, unknown>>, io: CommandIo) {
  try {
    const found = await tool.run(input, io.interruption);
    return { content: [{ type: "text" as const, text: JSON.stringify(found, null, 2) }] };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Messages contain no secret, and the model can act on them.
    const { message: text } = error;
    return { isError: true, content: [{ type: "text" as const, text }] };
  }
}

/** The package is optional: only this command needs it. */
async function loadSdk() {
  try {
    const [{ McpServer, fromJsonSchema }, { serveStdio }] = await Promise.all([
      import("@modelcontextprotocol/server"),
      import("@modelcontextprotocol/server/stdio"),
    ]);
    return { McpServer, fromJsonSchema, serveStdio };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    const wanted = `@modelcontextprotocol/server@${packageJson.optionalDependencies["@modelcontextprotocol/server"]}`;
    throw new CommandRefused(`This command needs a package that is not installed: npm install ${wanted}`);
  }
}

function closed({ interruption }: CommandIo): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once("close", resolve).once("end", resolve);
    interruption.addEventListener("abort", () => resolve());
  });
}
