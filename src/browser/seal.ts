// Loaded by the form of a new push when somebody chooses to seal in the browser.
export { makeLinkKey } from "../age/link-key.ts";
export { sealedSize, sealFile, sealText } from "../age/seal.ts";
export { writeSealedFiles } from "../age/sealed-files.ts";
