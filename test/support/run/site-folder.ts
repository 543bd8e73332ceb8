import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeSiteAccounts } from "../site-accounts.ts";

/** The data folder that sites on SQLite start with a copy of. */
export interface SiteFolder {
  readonly dataDir: string;
  /** Belongs to the user who is not an administrator. */
  readonly apiToken: string;
}

const execute = promisify(execFile);

/** @param folder where to make it. */
export async function makeSiteFolder(program: string, folder: string, compileCache: string): Promise<SiteFolder> {
  const dataDir = join(folder, "site");
  const env = { DATA_DIR: dataDir, NODE_COMPILE_CACHE: compileCache };
  const apiToken = await makeSiteAccounts(async (argv, stdin) => {
    const running = execute(process.execPath, ["--", program, ...argv], { env });
    running.child.stdin?.end(stdin);
    return (await running).stdout;
  });
  return { dataDir, apiToken };
}
