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
  return integrityOfBytes(readFileSync(join(assetsDir, fileName)));
}

export function integrityOfBytes(bytes: Uint8Array): string {
  return `sha384-${createHash("sha384").update(bytes).digest("base64")}`;
}

/** A script that pages name. */
export interface BuiltScript {
  /** The same in all builds. */
  readonly name: string;
  /** Where the server serves it; it changes with the content. */
  readonly path: string;
  readonly integrity: string;
}

export function builtScripts(assetsDir: string): BuiltScript[] {
  return Object.entries(readManifest(assetsDir))
    .toSorted()
    .flatMap(([name, fileName]) =>
      name.endsWith(".js") && typeof fileName === "string"
        ? [{ name, path: `/assets/${fileName}`, integrity: integrityOf(assetsDir, fileName) }]
        : [],
    );
}
