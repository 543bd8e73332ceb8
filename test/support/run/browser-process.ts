/** Starts the browser of a test run, sends its parent the address, and closes it when the parent disconnects or ends. */
import { launchBrowserServer } from "../browser.ts";

const server = await launchBrowserServer();
process.once("disconnect", async () => {
  await server.close();
  process.exit();
});
process.send?.(server.wsEndpoint());
