/** The logical names of the files that a build makes for browsers. */
export type AssetName =
  | "sealpush.css"
  | "dark.css"
  | "favicon.svg"
  | "icon-180.png"
  | "icon-192.png"
  | "icon-512.png"
  | "icon-maskable-512.png"
  | "page.js"
  | "new-push.js"
  | "passkeys.js"
  | "secret.js";

/** The path of an asset on this server; it changes with the content. */
export type AssetUrl = (name: AssetName) => string;

/**
 * @param manifest logical name -> file name, as the build wrote it to `dist/assets/manifest.json`.
 * @param base the path under which `dist/assets` is served, e.g. `/assets`.
 * @throws Error when the build does not contain the asset.
 */
export function assetUrls(manifest: Readonly<Record<string, unknown>>, base: string): AssetUrl {
  return (name) => {
    const fileName = manifest[name];
    if (typeof fileName !== "string") throw new Error(`The build has no asset named ${name}.`);
    return `${base}/${fileName}`;
  };
}
