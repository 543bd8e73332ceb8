import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { AppError } from "../base/errors.ts";
import { isFields } from "../base/json.ts";
import { systemErrorCode } from "../base/system-error.ts";
import { codingFor } from "./compression.ts";
import { immutableFor } from "./headers.ts";

/** @returns logical name -> file name, as the build wrote it. */
export function readManifest(assetsDir: string): Readonly<Record<string, unknown>> {
  const manifest: unknown = JSON.parse(readFileSync(join(assetsDir, "manifest.json"), "utf8"));
  if (!isFields(manifest)) throw new Error("The manifest of the assets is not an object.");
  return manifest;
}

/** The SHA-384 of a built file in the form of an integrity attribute. */
export function integrityOf(assetsDir: string, fileName: string): string {
  return `sha384-${createHash("sha384")
    .update(readFileSync(join(assetsDir, fileName)))
    .digest("base64")}`;
}

/**
 * The scripts that pages name. Names are the same in all builds; a path, where the server serves the script, changes with its
 * content.
 */
export function builtScripts(assetsDir: string) {
  return Object.entries(readManifest(assetsDir))
    .toSorted()
    .flatMap(([name, fileName]) =>
      name.endsWith(".js") && typeof fileName === "string"
        ? [{ name, path: `/assets/${fileName}`, integrity: integrityOf(assetsDir, fileName) }]
        : [],
    );
}

/** The names that a build gives to assets. Every other name (dots, slashes, a zero byte, a long one) is refused without a file access. */
const assetName = /^[\w-]{1,100}\.[a-z]+$/i;
const contentTypes: Readonly<Record<string, string>> = {
  ".js": "application/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};
/** The build writes each file compressed, too. */
const endings = { br: ".br", gzip: ".gz" } as const;

/** Serves the built files. A package for any static files would load dozens of files at each start. */
export function registerAssets(server: FastifyInstance, assetsDir: string): void {
  server.get<{ Params: { name: string } }>(
    "/assets/:name",
    { config: { access: "public", group: "recipient", changesState: false } },
    async (request, reply) => {
      const { name } = request.params;
      const type = contentTypes[extname(name)];
      if (!assetName.test(name) || type === undefined) throw new AppError("not_found", "not-found");
      const path = join(assetsDir, name);
      const coding = codingFor(request.raw.headers["accept-encoding"]);
      const compressed = coding && (await readIfPresent(path + endings[coding]));
      const bytes = compressed ?? (await readIfPresent(path));
      if (bytes === undefined) throw new AppError("not_found", "not-found");
      if (compressed !== undefined) reply.header("content-encoding", coding);
      return immutableFor(reply).header("vary", "accept-encoding").type(type).send(bytes);
    },
  );
}

async function readIfPresent(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
