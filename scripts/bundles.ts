import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type BuildOptions, build } from "esbuild";

export const root = dirname(import.meta.dirname);
export const serverFile = join(root, "dist/main.js");

const assetsDir = join(root, "dist/assets");
const manifestFile = join(assetsDir, "manifest.json");

/**
 * The server: a small start file that checks the version of Node, and the program, which it loads only then. Packages
 * stay outside: some of them are native, and all are installed anyway.
 */
export const serverBundle = {
  absWorkingDir: root,
  entryPoints: ["src/main.ts"],
  outdir: dirname(serverFile),
  bundle: true,
  splitting: true,
  chunkNames: "[name]",
  platform: "node",
  format: "esm",
  target: "node24",
  packages: "external",
  jsx: "automatic",
  jsxImportSource: "preact",
  sourcemap: true,
  logLevel: "warning",
} as const satisfies BuildOptions;

/** Each script directly under src/client, the stylesheet, and the icon; a changed content changes the name. */
async function browserBundles(): Promise<BuildOptions & { metafile: true; write: false }> {
  const scripts = (await readdir(join(root, "src/client")))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => `src/client/${name}`);
  return {
    absWorkingDir: root,
    entryPoints: [...scripts, "src/pages/design/sealpush.css", "src/pages/design/favicon.svg"],
    entryNames: "[name]-[hash]",
    outdir: assetsDir,
    loader: { ".svg": "copy" },
    bundle: true,
    platform: "browser",
    format: "esm",
    target: ["es2022", "chrome111", "firefox114", "safari16.4"],
    minify: true,
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "warning",
  };
}

/**
 * Writes dist/assets and its manifest (logical name -> file name), the manifest last and at once, so that whoever reads
 * it finds all it names. `removeOthers` must be false while a server runs that serves an older manifest.
 */
export async function buildAssets({ removeOthers }: { removeOthers: boolean }): Promise<void> {
  const { metafile, outputFiles } = await build(await browserBundles());
  const manifest: Record<string, string> = {};
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint !== undefined) manifest[basename(entryPoint).replace(/\.ts$/, ".js")] = basename(path);
  }
  await mkdir(assetsDir, { recursive: true });
  await Promise.all(outputFiles.map((file) => writeFile(file.path, file.contents)));
  await writeWhole(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`);
  if (!removeOthers) return;
  const kept = new Set([...Object.values(manifest), basename(manifestFile)]);
  const others = (await readdir(assetsDir)).filter((name) => !kept.has(name));
  await Promise.all(others.map((name) => rm(join(assetsDir, name))));
}

export async function buildServer(): Promise<void> {
  const { outputFiles } = await build({ ...serverBundle, write: false });
  await mkdir(dirname(serverFile), { recursive: true });
  for (const file of outputFiles) await writeWhole(file.path, file.contents);
}

/** Two builds at once, or a build beside a start: a reader finds the old file or the new one, never a part. */
async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, content);
  await rename(unfinished, file);
}
