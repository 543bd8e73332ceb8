import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { clientBundle, root } from "./bundles.ts";

/** The packages whose code is part of the built client ask for their notices to go along. */
const { metafile } = await build({ ...clientBundle, write: false, metafile: true });
const names = Object.keys(metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
const notices = [...new Set(names.filter((name) => name !== undefined))].toSorted().map((name) => {
  const folder = join(root, "node_modules", name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no file with its license.`);
  return `${name}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
writeFileSync(join(clientBundle.outdir, "third-party-licenses.txt"), notices.join("\n\n"));
