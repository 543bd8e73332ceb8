import "./node-version.js";
import process from "node:process";
import { isForClient } from "./client-verbs.ts";

// With a listener, Node does not open its debugger on this signal. The debugger could read every key in memory.
process.on("SIGUSR1", () => undefined);

const argv = process.argv.slice(2);
if (isForClient(argv)) await (await import("@sealpush/client/command")).main(argv);
else await import("./program.ts");
