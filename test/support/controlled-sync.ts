import fs, { existsSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/**
 * Loaded before the server (`--import`): as long as the file that SYNC_HELD names exists, a sync of the write-ahead log
 * takes; if the file that SYNC_FAILS names exists, it fails, as on a broken disk; if the file that SYNC_FAILS_ONCE names
 * exists, it is removed and that sync fails: the system reports a failed sync once and then forgets it.
 */
const { SYNC_HELD = "", SYNC_FAILS = "", SYNC_FAILS_ONCE = "" } = process.env;
const retryMs = 2;
const { fdatasync } = fs;

function controlled(file: number, done: (error: NodeJS.ErrnoException | null) => void): void {
  const failsOnce = existsSync(SYNC_FAILS_ONCE);
  if (failsOnce) rmSync(SYNC_FAILS_ONCE);
  if (failsOnce || existsSync(SYNC_FAILS)) {
    const error: NodeJS.ErrnoException = Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
    setImmediate(done, error);
  } else if (existsSync(SYNC_HELD)) setTimeout(controlled, retryMs, file, done);
  else fdatasync(file, done);
}

Object.assign(fs, { fdatasync: controlled });
syncBuiltinESMExports();
