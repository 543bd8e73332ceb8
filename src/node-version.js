// JavaScript without dependencies: Node versions that are too old load no TypeScript and no newer syntax.
import process from "node:process";

/** The SQLite driver crashes on older versions instead of refusing. */
const nodeVersionMin = [24, 12];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < nodeVersionMin[0] || (major === nodeVersionMin[0] && minor < nodeVersionMin[1])) {
  console.error(
    [
      `Sealpush needs Node ${nodeVersionMin.join(".")} or newer, and this is ${process.versions.node}.`,
      "On Linux and macOS (x64, arm64) and on Windows (x64), npm installs a suitable Node: run `npm ci`, then `npm start`.",
      "If optional packages are omitted (`npm config get omit`), or on other platforms, install a newer Node: https://nodejs.org/",
    ].join("\n"),
  );
  process.exit(1);
}
