import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** @returns logical name -> file name, as the build wrote it. */
export function readManifest(assetsDir: string): Readonly<Record<string, unknown>> {
  const manifest: unknown = JSON.parse(readFileSync(join(assetsDir, "manifest.json"), "utf8"));
  if (typeof manifest !== "object" || manifest === null)
    throw new Error("The manifest of the assets is not an object.");
  return { ...manifest };
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
