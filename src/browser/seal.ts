// Loaded by the form of a new push when somebody chooses to seal in the browser.
export { makeFileKey, makeLinkKey } from "../age/link-key.ts";
export { sealedSize, sealFile, sealText } from "../age/seal.ts";
export { writeLabel, writePayload } from "../age/sealed-content.ts";
