import { shells } from "./completion.ts";
import type { Option, Verb } from "./verb.ts";

const server: Option = { name: "server", value: "<address>", description: "the server, instead of the configured one" };
const json: Option = { name: "json", description: "print JSON" };
const page: Option = { name: "page", value: "<number>", description: "the page of 50 entries, 1 to 200; default: 1" };
const passphraseFile: Option = {
  name: "passphrase-file",
  value: "<file>",
  description: "read the passphrase from the only line of this file",
};

const field: Option = {
  name: "field",
  value: "<label>[:secret|:otp]=<value>",
  multiple: true,
  description: "a field of a structured secret; - asks for its value, or reads one line of standard input",
};
const name: Option = { name: "name", value: "<text>", description: "a label that only you see" };
const note: Option = { name: "note", value: "<text>", description: "a remark that only you see" };

/** No server takes more files in one push; its setting may be lower. */
const filesMax = 500;

const linkDetails = "The push is named by its link or its token; - reads it from standard input.";

/** All commands: the usage, the help and the completion are derived from these rows, and each loads its code when it runs. */
export const verbs: readonly Verb[] = [
  {
    name: "push",
    summary: "Share a secret and print its link.",
    takes: "[file...]",
    argumentsMax: filesMax,
    completes: "files",
    options: [
      {
        name: "expire",
        short: "e",
        value: "<time>",
        description: "when it ends at the latest, such as 30m, 1h, 3d, 2w or 2026-12-01T17:00:00Z",
      },
      { name: "preset", value: "<name>", description: "start from these settings; other options win" },
      { name: "views", short: "v", value: "<number>", description: "how often it can be opened" },
      { name: "passphrase", short: "p", description: "ask for a passphrase, or take it from SEALPUSH_PASSPHRASE" },
      passphraseFile,
      { name: "e2e", description: "seal it end to end: the server never sees it, and the link contains the key" },
      { name: "seal-labels", description: "with --e2e: seal name and note, too" },
      { name: "kind", value: "<kind>", description: "text, url or qr; default: text" },
      field,
      { name: "as", value: "<filename>", description: "send standard input as a file with this name" },
      name,
      note,
      { name: "deletable", value: "<yes|no>", description: "whether viewers may delete it; default: the server's" },
      {
        name: "step",
        value: "<yes|no>",
        description: "whether people click before it is shown; default: the server's",
      },
      { name: "show-sender", description: "everybody with the link sees your confirmed email address" },
      { name: "language", value: "<tag>", description: "the language of the link's page, such as de" },
      server,
      json,
    ],
    details: `Without files, the secret is read from standard input, or asked for without showing it. A line end after a single line
is not part of it. If SEALPUSH_PASSPHRASE is set, the push has this passphrase, also without -p. A secret is never an argument, because other users of this machine can read those. Files need a token
on most servers.`,
    afterLostAnswer: 'The push may exist all the same. With a token, "sealpush list" shows it.',
    load: async () => (await import("./push.ts")).push,
  },
  {
    name: "open",
    summary: "Open a push or an answer: print its text and save its files. Counts a view.",
    takes: "<link>",
    options: [
      {
        name: "output",
        short: "o",
        value: "<folder>",
        description: "where files are saved; default: here. - prints the only file",
      },
      {
        name: "passphrase",
        short: "p",
        description: "ask for the passphrase first, or take it from SEALPUSH_PASSPHRASE",
      },
      passphraseFile,
      { name: "field", value: "<label>", description: "print only the value of this field of a structured secret" },
      { name: "otp", description: "print the current one-time code, of --field or of the only field that has one" },
      server,
      json,
    ],
    details: `${linkDetails} A passphrase that is needed is taken from
SEALPUSH_PASSPHRASE, or asked for. Files never replace others: they get another name. The private link of a request opens
its oldest answer that was not opened yet.`,
    load: async () => (await import("./open.ts")).open,
  },
  {
    name: "request",
    summary: "Ask somebody for a secret: print the link to send, and the private link that opens the answers.",
    takes: "<title>",
    options: [
      { name: "note", value: "<text>", description: "what those who answer see below the title" },
      { name: "wants", value: "<what>", description: "text, files or both; default: text" },
      { name: "answers", value: "<number>", description: "how many answers it takes, 1 to 100; default: 1" },
      { name: "expire", short: "e", value: "<time>", description: "when it closes, such as 3d or 2w; default: 7d" },
      {
        name: "passphrase",
        short: "p",
        description:
          "seal the key under a passphrase of at least 12 characters, which is asked for or taken from SEALPUSH_PASSPHRASE",
      },
      passphraseFile,
      server,
      json,
    ],
    details: `The key is made here. Needs a token. Without a passphrase the key is only in the private link, which is stored in a file that
only you can read; its path is printed. With a passphrase, the server stores the
sealed key, and its operator can try passphrases: choose one that cannot be guessed.
sealpush open asks for the private link and opens the answers one by one; sealpush list <private link> lists them.`,
    afterLostAnswer: 'The request may exist all the same. With a token, "sealpush list --requests" shows it.',
    load: async () => (await import("./request.ts")).request,
  },
  {
    name: "answer",
    summary: "Answer a request with a text or files, sealed before they leave.",
    takes: "<link> [file...]",
    argumentsMax: 1 + filesMax,
    completes: "files",
    options: [server],
    details: `The link is the one that the person who asks has sent; a token is not needed. Without files, the secret is read from standard
input, or asked for without showing it.`,
    afterLostAnswer: "The answer may have arrived all the same. Ask the person before you send it again.",
    load: async () => (await import("./request.ts")).answer,
  },
  {
    name: "list",
    summary: "List your active pushes, newest first, in columns separated by tabs.",
    takes: "[link]",
    options: [
      { name: "expired", description: "list those that have ended" },
      { name: "requests", description: "list your requests" },
      {
        name: "links",
        value: "<file>",
        description: "open the sealed names with the links in this file, one a line",
      },
      { name: "passphrase", short: "p", description: "the passphrase of the request that is named" },
      passphraseFile,
      page,
      server,
      json,
    ],
    details: `With the link of your request, its answers are listed, oldest first. The private link or the passphrase adds the key to their
links. A name that was sealed with push --seal-labels is shown as "Sealed name", unless --links has the whole link of its push.`,
    load: async () => (await import("./manage.ts")).list,
  },
  {
    name: "audit",
    summary: "Show who opened your push, oldest first, in columns separated by tabs.",
    takes: "<link>",
    options: [page, server, json],
    details: linkDetails,
    load: async () => (await import("./manage.ts")).audit,
  },
  {
    name: "edit",
    summary: "Change your push: its secret, limits, name, note or options.",
    takes: "<link>",
    options: [
      { name: "secret", description: "replace the secret: read the new one from standard input, or ask for it" },
      field,
      {
        name: "views",
        short: "v",
        value: "<number>",
        description: "how often it can be opened, with the views so far",
      },
      { name: "days", value: "<number>", description: "how many days it can be opened, counted from its creation" },
      name,
      note,
      { name: "deletable", value: "<yes|no>", description: "whether viewers may delete it" },
      { name: "step", value: "<yes|no>", description: "whether people click before it is shown" },
      { name: "passphrase", short: "p", description: "ask for its passphrase, or take it from SEALPUSH_PASSPHRASE" },
      passphraseFile,
      { name: "new-passphrase", description: "ask for another passphrase, or take it from SEALPUSH_NEW_PASSPHRASE" },
      {
        name: "new-passphrase-file",
        value: "<file>",
        description: "read the new passphrase from the only line of this file",
      },
      { name: "remove-passphrase", description: "open it without a passphrase from now on" },
      { name: "add-file", value: "<file>", multiple: true, description: "add this file" },
      { name: "remove-file", value: "<name>", multiple: true, description: "remove the files with this name" },
      server,
      json,
    ],
    details: `${linkDetails} What is not named stays as it is, the link too. A new secret, passphrase or file needs the
passphrase of a push that has one. The token needs the scope edit.`,
    afterLostAnswer: "The push may have been changed all the same. Check before you change it again.",
    load: async () => (await import("./edit.ts")).edit,
  },
  {
    name: "end",
    summary: "End a push at once, or close a request.",
    takes: "<link>",
    options: [server, json],
    details: `${linkDetails} A request is named by its link, and keeps its answers.`,
    load: async () => (await import("./manage.ts")).end,
  },
  {
    name: "delete",
    summary: "Delete a request with its answers, also those that nobody has opened.",
    takes: "<link>",
    options: [
      { name: "yes", short: "y", description: "do not ask for confirmation; needed where nobody can be asked" },
      server,
    ],
    details: `The request is named by its link or its token; - reads it from standard input. Without a token, the private link deletes it.
sealpush end closes a request and keeps its answers.`,
    load: async () => (await import("./manage.ts")).deleteRequest,
  },
  {
    name: "generate",
    summary: "Print a random password.",
    options: [
      { name: "length", short: "l", value: "<number>", description: "8 to 1024 characters; default: 20" },
      { name: "no-symbols", description: "only letters and digits" },
    ],
    details: "Share it at once: sealpush generate | sealpush push --expire 1h --views 1",
    load: async () => (await import("./generate.ts")).generate,
  },
  {
    name: "login",
    summary: "Store the address of your server and your API token.",
    takes: "[address]",
    details: `Create a token at /users/token of the server. It is asked for without showing it, or read from standard input. Both are
stored in $XDG_CONFIG_HOME/sealpush/config.json, which only you can read.`,
    load: async () => (await import("./session.ts")).login,
  },
  {
    name: "logout",
    summary: "Remove the stored API token. It stays valid until you revoke it at /users/token.",
    load: async () => (await import("./session.ts")).logout,
  },
  {
    name: "whoami",
    summary: "Show the server that is used, its version, and whether it accepts your API token.",
    options: [server, json],
    load: async () => (await import("./session.ts")).whoami,
  },
  {
    name: "mcp",
    summary: "Serve the Model Context Protocol on standard input and output, for language models.",
    options: [
      {
        name: "files",
        value: "<folder>",
        description: "the folder whose files may be shared, and where secrets may be saved; default: none",
      },
      { name: "show-secrets", description: "also open pushes, so that their secrets reach the model" },
      server,
    ],
    details: `The tools are push, list, audit, end, request, requests and answers, with --files also save. No secret reaches the model: it
shares passwords that are generated here, files whose content it does not see, and fields whose values come from files or
are typed at the terminal; what it opens is saved in files. The answers to its requests open with SEALPUSH_PASSPHRASE, which
must have at least 12 characters and not be a common one.`,
    load: async () => (await import("./mcp.ts")).mcp,
  },
  {
    name: "completion",
    summary: "Print a script that completes commands and options in bash, zsh or fish.",
    takes: "<shell>",
    completes: shells,
    details: `bash: source <(sealpush completion bash)      zsh: source <(sealpush completion zsh)
fish: sealpush completion fish | source`,
    load: async () => (await import("./complete.ts")).completion(verbs),
  },
];

export function findVerb(name: string | undefined): Verb | undefined {
  return verbs.find((verb) => verb.name === name);
}
