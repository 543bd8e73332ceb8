import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "../src/api/v2/openapi.ts";
import { systemErrorCode } from "../src/base/system-error.ts";
import { configurationDoc } from "../src/config/configuration-doc.ts";
import english from "../src/i18n/messages/en.json" with { type: "json" };
import { clientTypes } from "./client-types.ts";
import { messageValues } from "./messages.ts";

/** Files that are generated from the code. `path` starts at the root of the repository. */
const generatedFiles: readonly { path: string; render: () => string | Promise<string> }[] = [
  { path: "docs/configuration.md", render: configurationDoc },
  { path: "docs/openapi.json", render: () => `${JSON.stringify(openApiDocument(), null, 2)}\n` },
  { path: "packages/client/src/api-types.ts", render: clientTypes },
  { path: "src/i18n/english-messages.ts", render: () => messageValues(english) },
];

const usage = `Usage: node scripts/docs.ts [--check]

Writes the documents that are generated from the code. With --check nothing is written, and the exit code is 1 if one
of them is out of date.`;

function currentText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function run(parameters: readonly string[]): Promise<number> {
  const check = parameters[0] === "--check";
  if (parameters[0] === "--help") {
    console.log(usage);
    return 0;
  }
  if (parameters.length > (check ? 1 : 0)) {
    console.error(usage);
    return 2;
  }
  let stale = 0;
  for (const { path, render } of generatedFiles) {
    const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
    const text = await render();
    if (currentText(file) === text) continue;
    stale += 1;
    if (!check) writeFileSync(file, text);
    console.log(check ? `${path} is out of date: run "npm run -s docs".` : `${path} written.`);
  }
  return check && stale > 0 ? 1 : 0;
}

process.exitCode = await run(process.argv.slice(2));
