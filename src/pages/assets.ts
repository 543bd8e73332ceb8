import { integrityOf } from "../http/built-assets.ts";

/** The logical names of the files that a build makes for browsers. */
export type AssetName =
  | "sealpush.css"
  | "admin.css"
  | "created.css"
  | "signed-in.css"
  | "edit-push.css"
  | "api-help.css"
  | "about.css"
  | "single-sign-on.css"
  | "dark.css"
  | "dark-logo.css"
  | "favicon.svg"
  | "icon-180.png"
  | "icon-192.png"
  | "icon-512.png"
  | "icon-maskable-512.png"
  | "page.js"
  | "new-push.js"
  | "passkeys.js"
  | "secret.js"
  | "link-page.js"
  | "open-in-place.js"
  | "deleted.js"
  | "signed-in.js"
  | "new-request.js"
  | "requests.js"
  | "seal.js"
  | "ask-first.js"
  | "theme-preview.js"
  | "sealed-link.js"
  | "field-editor.js"
  | "one-time-codes.js"
  | "open-sealed.js";

/** The path of an asset on this server; it changes with the content. */
export type AssetUrl = (name: AssetName) => string;

/** The SHA-384 of an asset in the form of an integrity attribute: browsers do not run a script with other bytes. */
export type AssetIntegrity = (name: AssetName) => string;

/**
 * @param manifest logical name -> file name, as the build wrote it to `dist/assets/manifest.json`.
 * @param base the path under which `dist/assets` is served, e.g. `/assets`.
 * @throws Error when the build does not contain the asset.
 */
export function assetUrls(manifest: Readonly<Record<string, unknown>>, base: string): AssetUrl {
  return (name) => `${base}/${fileNameIn(manifest, name)}`;
}

/** @param assetsDir the folder of the manifest. Each asset that is asked for is read once. */
export function assetIntegrities(manifest: Readonly<Record<string, unknown>>, assetsDir: string): AssetIntegrity {
  const found = new Map<AssetName, string>();
  return (name) => {
    const known = found.get(name);
    if (known !== undefined) return known;
    const integrity = integrityOf(assetsDir, fileNameIn(manifest, name));
    found.set(name, integrity);
    return integrity;
  };
}

function fileNameIn(manifest: Readonly<Record<string, unknown>>, name: AssetName): string {
  const fileName = manifest[name];
  if (typeof fileName !== "string") throw new Error(`The build has no asset named ${name}.`);
  return fileName;
}
