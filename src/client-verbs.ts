/**
 * The commands that work with the server over its API, each with one sentence for the help. They are in @sealpush/client, which
 * is loaded only for them; they load nothing of the server.
 */
const clientVerbs = {
  push: "Share a secret and print its link.",
  open: "Open a push or an answer: print its text and save its files. Counts a view.",
  request: "Ask somebody for a secret: print the link to send, and the private link that opens the answers.",
  answer: "Answer a request with a text or files, sealed before they leave.",
  list: "List your active pushes, newest first, in columns separated by tabs.",
  audit: "Show who opened your push, oldest first, in columns separated by tabs.",
  edit: "Change your push: its secret, limits, name, note or options.",
  end: "End a push at once, or close a request.",
  delete: "Delete a request with its answers, also those that nobody has opened.",
  generate: "Print a random password.",
  login: "Store the address of your server and your API token.",
  logout: "Remove the stored API token. It stays valid until you revoke it at /users/token.",
  whoami: "Show the server that is used, its version, and whether it accepts your API token.",
  mcp: "Serve the Model Context Protocol on standard input and output, for language models.",
} as const;

/** Each name with its summary. */
export const clientVerbSummaries: Readonly<Record<string, string>> = clientVerbs;

/** @param argv the arguments after the program's name. */
export function isForClient([name = "", about = ""]: readonly string[]): boolean {
  return Object.hasOwn(clientVerbs, name === "help" ? about : name);
}
