import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CommandIo } from "./io.ts";
import { makeFolder, settingsFolder } from "./settings.ts";
import { systemProblem } from "./system-error.ts";

/** Where a private link is stored, or why it is not. */
type StoredLink = { readonly path: string } | { readonly problem: string };

/**
 * Stores the private link of a request, which is the only copy of its key, so that it is not lost with the terminal. Only this
 * user can read the file, and it never replaces another one.
 */
export async function storePrivateLink(urlToken: string, privateLink: string, io: CommandIo): Promise<StoredLink> {
  const folder = join(settingsFolder(io), "requests");
  // The server chooses the token.
  const path = join(folder, urlToken.replace(/[^\w-]/g, "_").slice(0, 64));
  try {
    await makeFolder(folder);
    await writeFile(path, `${privateLink}\n`, { mode: 0o600, flag: "wx" });
    return { path };
  } catch (error) {
    const problem = systemProblem(error);
    if (problem === undefined) throw error;
    return { problem };
  }
}
