import "./node-version.js";
import process from "node:process";

// With a listener, Node does not open its debugger on this signal. The debugger could read every key in memory.
process.on("SIGUSR1", () => undefined);

await import("./program.ts");
