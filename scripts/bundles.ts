import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, deflateRawSync, gzipSync } from "node:zlib";
import { type BuildOptions, build, type Plugin } from "esbuild";
import clientPackage from "../packages/client/package.json" with { type: "json" };

export const root = dirname(import.meta.dirname);
export const serverFile = join(root, "dist/main.js");
const importerFile = join(root, "packages/import-password-pusher/dist/password-pusher.js");
const clientFile = join(root, "packages/client/dist/client.js");

export const assetsDir = join(root, "dist/assets");
const manifestFile = join(assetsDir, "manifest.json");

/** The source of the format of end-to-end pushes becomes part of each bundle that uses it. */
const sourceOfAge = { "@sealpush/age": join(root, "packages/age/src") };

/** These have hundreds of small files, and loading those took a third of the start: they become part of the server's bundle. */
const packagesOfManyFiles = {
  typebox: join(root, "node_modules/typebox/build/index.mjs"),
  yaml: join(root, "node_modules/yaml/browser/index.js"),
};

/**
 * The messages of a language stay compressed until it is first used: an idle server has few of them in memory, and reads no file
 * of its build late.
 */
const compressedMessages: Plugin = {
  name: "compressed messages",
  setup({ onLoad }) {
    onLoad({ filter: /\/i18n\/messages\/[\w-]+\.json$/ }, async ({ path }) => ({
      contents: deflateRawSync(JSON.stringify(JSON.parse(await readFile(path, "utf8"))), { level: 9 }),
      loader: "base64",
    }));
  },
};

/**
 * The server: a small start file that checks the version of Node, and the program, which it loads only then; and the file
 * of its thread. Packages stay outside: some of them are native, and all are installed anyway.
 */
export const serverBundle = {
  absWorkingDir: root,
  entryPoints: [
    { in: "src/main.ts", out: "main" },
    { in: "src/database/sqlite/checkpoint-thread.ts", out: "checkpoint-thread" },
  ],
  outdir: dirname(serverFile),
  bundle: true,
  splitting: true,
  chunkNames: "[name]-[hash]",
  platform: "node",
  format: "esm",
  target: "node24",
  packages: "external",
  alias: { ...sourceOfAge, ...packagesOfManyFiles },
  jsx: "automatic",
  jsxImportSource: "preact",
  sourcemap: true,
  plugins: [compressedMessages],
  logLevel: "warning",
} as const satisfies BuildOptions;

/** The package that `sealpush import password-pusher` loads; its package.json names the start file. */
export const importerBundle = {
  ...serverBundle,
  absWorkingDir: dirname(dirname(importerFile)),
  entryPoints: [{ in: "src/password-pusher.ts", out: "password-pusher" }],
  outdir: dirname(importerFile),
} as const satisfies BuildOptions;

/** The client, and its commands, which run on the Node of their users. */
export const clientBundle = {
  ...serverBundle,
  absWorkingDir: dirname(dirname(clientFile)),
  entryPoints: [
    { in: "src/client.ts", out: "client" },
    { in: "src/command/command.ts", out: "command" },
    { in: "src/bin.ts", out: "bin" },
  ],
  outdir: dirname(clientFile),
  target: "node20",
  // It contains what it needs, except the optional package.
  packages: "bundle",
  external: Object.keys(clientPackage.optionalDependencies).flatMap((name) => [name, `${name}/*`]),
} as const satisfies BuildOptions;

/** Libraries of age-encryption for keys that links do not have. */
const notInBrowsers = ["@noble/post-quantum/hybrid.js", "@noble/curves/nist.js"];

/** Each script directly under src/browser, the style sheets, and the icons; a changed content changes the name. */
async function browserBundles(): Promise<BuildOptions & { metafile: true; write: false }> {
  const scripts = (await readdir(join(root, "src/browser")))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => `src/browser/${name}`);
  const icons = (await readdir(join(root, "src/pages/design")))
    .filter((name) => /\.(?:svg|png)$/.test(name))
    .map((name) => `src/pages/design/${name}`);
  const styles = [
    "design/sealpush.css",
    "design/admin.css",
    "design/dark.css",
    "design/dark-logo.css",
    "design/signed-in.css",
    "created/created.css",
    "edit-push/edit-push.css",
    "api-help/api-help.css",
    "about/about.css",
    "single-sign-on/single-sign-on.css",
  ].map((name) => `src/pages/${name}`);
  return {
    absWorkingDir: root,
    entryPoints: [...scripts, ...styles, ...icons],
    entryNames: "[name]-[hash]",
    outdir: assetsDir,
    loader: { ".svg": "copy", ".png": "copy" },
    alias: {
      ...sourceOfAge,
      ...Object.fromEntries(
        notInBrowsers.map((name) => [name, join(sourceOfAge["@sealpush/age"], "not-in-browsers.ts")]),
      ),
    },
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

/** A server of the last build may still run: the files that it and its pages load later are kept, and those of this long before. */
const othersStayMs = 24 * 3_600_000;

/**
 * Writes dist/assets, each file also compressed, and its manifest (logical name -> file name). The manifest is written last and atomically, so all the
 * files that it names exist.
 * @param removeOthers removes files of earlier builds that are at least a day older than the last one.
 */
export async function buildAssets({ removeOthers }: { removeOthers: boolean }): Promise<void> {
  const { metafile, outputFiles } = await build(await browserBundles());
  const manifest: Record<string, string> = {};
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint !== undefined) manifest[basename(entryPoint).replace(/\.ts$/, ".js")] = basename(path);
  }
  const files = outputFiles.flatMap(({ path, contents }) => [
    { path, contents },
    { path: `${path}.br`, contents: brotliCompressSync(contents) },
    { path: `${path}.gz`, contents: gzipSync(contents, { level: 9 }) },
  ]);
  const lastBuiltMs = await findModifiedMs(manifestFile);
  await mkdir(assetsDir, { recursive: true });
  await Promise.all(files.map(({ path, contents }) => writeWhole(path, contents)));
  await writeWhole(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`);
  const kept = [...files, { path: manifestFile }].map(({ path }) => basename(path));
  if (removeOthers) await removeOld(assetsDir, kept, lastBuiltMs);
}

/** The server and the packages that it loads. The server's start file is written last: it is the newest of a build. */
export async function buildServer({ removeOthers }: { removeOthers: boolean }): Promise<void> {
  await buildModules(clientBundle, { startFile: clientFile, removeOthers, keep: [] });
  await buildModules(importerBundle, { startFile: importerFile, removeOthers, keep: [] });
  await buildModules(serverBundle, { startFile: serverFile, removeOthers, keep: [basename(assetsDir)] });
}

/**
 * The same server in another folder beside `dist`, with changes of its own.
 * @returns the start file.
 */
export async function buildServerInto(folder: string, plugins: Plugin[]): Promise<string> {
  const startFile = join(folder, basename(serverFile));
  const bundle: BuildOptions = { ...serverBundle, outdir: folder, plugins: [...serverBundle.plugins, ...plugins] };
  await buildModules(bundle, { startFile, removeOthers: true, keep: [basename(assetsDir)] });
  return startFile;
}

/** The start file is written last, so all the files that it names exist. */
async function buildModules(
  bundle: BuildOptions,
  { startFile, removeOthers, keep }: { startFile: string; removeOthers: boolean; keep: readonly string[] },
): Promise<void> {
  const { outputFiles } = await build({ ...bundle, write: false });
  const folder = dirname(startFile);
  const lastBuiltMs = await findModifiedMs(startFile);
  await mkdir(folder, { recursive: true });
  const startFileLast = outputFiles.toSorted((a, b) => Number(a.path === startFile) - Number(b.path === startFile));
  for (const file of startFileLast) await writeWhole(file.path, file.contents);
  const kept = [...keep, ...outputFiles.map((file) => basename(file.path))];
  if (removeOthers) await removeOld(folder, kept, lastBuiltMs);
}

async function removeOld(folder: string, kept: readonly string[], lastBuiltMs = Date.now()): Promise<void> {
  const others = (await readdir(folder)).filter((name) => !kept.includes(name)).map((name) => join(folder, name));
  for (const path of others) {
    const writtenMs = await findModifiedMs(path);
    if (writtenMs !== undefined && lastBuiltMs - writtenMs > othersStayMs) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** Whether server and assets are newer than all that they are made of. */
export async function isBuilt(): Promise<boolean> {
  const sourcesMs = await sourcesModifiedMs();
  const builtMs = await Promise.all([serverFile, manifestFile].map(findModifiedMs));
  return builtMs.every((ms) => ms !== undefined && ms >= sourcesMs);
}

/** The newest time among the sources. */
async function sourcesModifiedMs(): Promise<number> {
  const folders = ["src", "packages/age/src", "packages/client/src", "packages/import-password-pusher/src"];
  const lists = folders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true }));
  const entries = (await Promise.all(lists)).flat();
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const others = ["package.json", "package-lock.json", "scripts/bundles.ts"].map((name) => join(root, name));
  const times = await Promise.all([...files, ...others].map(findModifiedMs));
  return Math.max(...times.map((time) => time ?? 0));
}

/** @returns undefined when the file does not exist: a concurrent build may have renamed or removed it. */
async function findModifiedMs(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Replaces a file atomically: another build or a starting server may use it at the same time. */
async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, content);
  await rename(unfinished, file);
}
