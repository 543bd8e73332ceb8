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
