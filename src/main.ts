import "./node-version.js";
import { constants } from "node:os";
import process from "node:process";
import { isForClient } from "./client-verbs.ts";

// With a listener, Node does not open its debugger on this signal. The debugger could read every key in memory.
process.on("SIGUSR1", () => undefined);

const argv = process.argv.slice(2);
if (isForClient(argv)) await (await import("@sealpush/client/command")).main(argv);
else {
  // The first process of a container ignores signals that nobody listens to. The program replaces these listeners.
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(name, () => process.exit(128 + constants.signals[name]));
  }
  await import("./program.ts");
}
