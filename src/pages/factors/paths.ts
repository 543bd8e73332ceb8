import { factorsPath, secondFactorPath, signInPath } from "../../http/authentication.ts";

export { factorsPath, secondFactorPath };

export const appPath = `${factorsPath}/authenticator_app`;
export const removeAppPath = `${appPath}/remove`;
export const passkeysPath = `${factorsPath}/passkeys`;
export const newPasskeyOptionsPath = `${passkeysPath}/options`;
export const removePasskeyPath = (id: number | ":id") => `${passkeysPath}/${id}/remove`;
export const backupCodesPath = `${factorsPath}/backup_codes`;
/** What a browser needs to confirm a change by a passkey. */
export const proofOptionsPath = `${factorsPath}/proof/options`;
export const secondFactorOptionsPath = `${secondFactorPath}/options`;
export const passkeySignInPath = `${signInPath}/passkey`;
export const passkeySignInOptionsPath = `${passkeySignInPath}/options`;
