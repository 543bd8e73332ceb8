import { inject } from "vitest";
import "./provided.ts";

/** Asks the service of this test run; see `openRunService`. */
export async function askRun(method: "POST" | "DELETE", path: string): Promise<string> {
  const answer = await fetch(`${inject("runService")}/${path}`, { method });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`The service of the test run: ${text}`);
  return text;
}
