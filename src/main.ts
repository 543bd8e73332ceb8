import { versions } from "node:process";

/** The SQLite driver crashes on older ones instead of refusing. */
const nodeVersionMin = [24, 12] as const;

const [major = 0, minor = 0] = versions.node.split(".").map(Number);
if (major > nodeVersionMin[0] || (major === nodeVersionMin[0] && minor >= nodeVersionMin[1])) {
  await import("./program.ts");
} else {
  console.error(
    `Sealpush needs Node ${nodeVersionMin.join(".")} or newer, and this is ${versions.node}. ` +
      "Start it with `npm start`: npm installs a suitable Node on Linux, macOS and Windows. Elsewhere, install a newer Node.",
  );
  process.exitCode = 1;
}
