import { factorsPath } from "../../http/authentication.ts";
import type { PageRoute } from "../request.ts";
import { addApp, removeApp, showApp } from "./app.tsx";
import { addPasskey, createBackupCodes, offerNewPasskey, offerProof, removePasskey, showFactors } from "./handler.ts";
import {
  appPath,
  backupCodesPath,
  newPasskeyOptionsPath,
  passkeysPath,
  proofOptionsPath,
  removeAppPath,
  removePasskeyPath,
} from "./paths.ts";

const access = {
  group: "internal",
  access: "page_session",
  beforeFactor: true,
  withSignOnOnly: false,
} as const;
const get = { ...access, method: "GET" } as const;
const post = { ...access, method: "POST" } as const;

/** The pages of an account's second factors, which also an account without a required one can use. */
export const factorRoutes: readonly PageRoute[] = [
  { ...get, path: factorsPath, handler: showFactors },
  { ...get, path: appPath, handler: showApp },
  { ...post, path: appPath, handler: addApp },
  { ...post, path: removeAppPath, handler: removeApp },
  { ...post, path: newPasskeyOptionsPath, handler: offerNewPasskey },
  { ...post, path: proofOptionsPath, handler: offerProof },
  { ...post, path: passkeysPath, handler: addPasskey },
  { ...post, path: removePasskeyPath(":id"), handler: removePasskey },
  { ...post, path: backupCodesPath, handler: createBackupCodes },
];
