import { pollHeader } from "../../base/poll-header.ts";

const pollMs = 10_000;
/** Half an hour: requests keep a session alive, and a forgotten window must not do so for long. */
const pollsMax = 180;

/** @param ask is called while the page can be seen. It answers whether nothing will change any more. */
export function pollWhileVisible(ask: () => Promise<boolean>): void {
  let polls = 0;
  const timer = setInterval(() => {
    if (document.hidden) return;
    polls += 1;
    if (polls >= pollsMax) clearInterval(timer);
    void ask().then((isFinal) => {
      if (isFinal) clearInterval(timer);
    });
  }, pollMs);
}

/** @returns null: the network or the server fails now, and the next request may succeed; undefined: no request will. */
export async function askServer(address: string): Promise<Response | null | undefined> {
  let response: Response;
  try {
    response = await fetch(address, { redirect: "manual", headers: { [pollHeader]: "1" } });
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
  if (response.status >= 500 || response.status === 429) return null;
  return response.ok ? response : undefined;
}
