/** A process that starts a server, tells its parent where the files lie, and waits to be killed: run by a test. */
import { startPostgres } from "./server.ts";

const server = await startPostgres();
process.send?.(server.cluster.folder);
