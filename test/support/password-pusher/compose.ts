import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Installation, keysOfFixture } from "./installations.ts";

/** The environment of Password Pusher's compose file, with what its image adds for an operator who changed little. */
export const composeEnvironment: Readonly<Record<string, string>> = {
  PWPUSH_MASTER_KEY: keysOfFixture.PWPUSH_MASTER_KEY,
  PWPUSH_MASTER_KEY_PREVIOUS: keysOfFixture.PWPUSH_MASTER_KEY_PREVIOUS,
  PWP__ENABLE_LOGINS: "true",
  PWP__ENABLE_URL_PUSHES: "true",
  PWP__ENABLE_FILE_PUSHES: "true",
  PWP__ENABLE_QR_PUSHES: "true",
  PWP__ALLOW_ANONYMOUS: "true",
  PWP__FILES__STORAGE: "local",
  PWP__MAIL__RAISE_DELIVERY_ERRORS: "false",
  PWP__THEME: "default",
  RAILS_ENV: "production",
};

/**
 * A digest of every path, mode and content below a folder, and of every file's time of change, without this server's own data
 * and its mark beside the database.
 */
export function digestOf({ storageFolder }: Pick<Installation, "storageFolder">): string {
  const digest = createHash("sha256");
  const paths = readdirSync(storageFolder, { recursive: true, encoding: "utf8" }).sort();
  for (const path of paths.filter((name) => !/^sealpush(?:\/|$)|\.moved-to-sealpush\.txt$/.test(name))) {
    const found = statSync(join(storageFolder, path));
    digest.update(`${path} ${found.mode}\n`);
    if (!found.isFile()) continue;
    digest.update(`${found.mtimeMs} ${found.size}\n`);
    digest.update(readFileSync(join(storageFolder, path)));
  }
  return digest.digest("hex");
}
