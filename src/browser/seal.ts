// Loaded by the form of a new push when somebody chooses to seal in the browser.
export { guessableReason } from "@sealpush/age/guessable";
export { makeFileKey, makeLinkKey } from "@sealpush/age/link-key";
export { sealedSize, sealFile, sealText } from "@sealpush/age/seal";
export { writeLabel, writePayload } from "@sealpush/age/sealed-content";
