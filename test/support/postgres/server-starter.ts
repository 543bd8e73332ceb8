/** A process that starts a server, sends its parent the folder of the files, and waits to be killed: run by a test. */
import { startPostgres } from "./server.ts";

const server = await startPostgres();
process.send?.(server.cluster.folder);
