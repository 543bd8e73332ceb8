import type { ClientError } from "../errors.ts";
import { systemReason } from "./system-error.ts";

/** Codes of Node's HTTP client, of DNS, TLS and certificates (OpenSSL). The operating system has no words for them. */
const networkReasons: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, "its name cannot be resolved"],
  [/^UND_ERR_SOCKET$/, "the connection was closed without an answer"],
  [/^UND_ERR_\w*TIMEOUT$/, "no answer in time"],
  [/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/, "it answers without TLS"],
  [/^ERR_SSL_/, "the TLS handshake failed"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "its certificate is for another name"],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired"],
  [
    /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/,
    "its certificate is not signed by an authority that is trusted here; NODE_EXTRA_CA_CERTS adds one",
  ],
];

/** The message of the client for the person who called a command: in words, and with what to do next. */
export function clientProblem({ code, message }: ClientError): string {
  if (code === "unauthorized") {
    return `${message} Make an API token at /users/token on the server, and store it with "sealpush login".`;
  }
  if (/^The server answered \d{3}\.$/.test(message)) {
    return `${message} It gave no reason, so a proxy or another program may have answered: check the server's address.`;
  }
  return message.replace(/\(([A-Z][A-Z\d_]+)\)\.$/, (_, named: string) => `(${networkReason(named)}).`);
}

/** Where the connection ended after the request may have been sent: nobody here knows what the request did. */
const lostReasons = /\((?:UND_ERR_SOCKET|UND_ERR_(?:HEADERS|BODY)_TIMEOUT|ECONNRESET|EPIPE|no answer in time)\)\.$/;

/** Whether the server may have done what it was asked, although its answer did not arrive. */
export function isAnswerLost({ code, message, status }: ClientError): boolean {
  return status === 502 || status === 504 || (code === "unreachable" && lostReasons.test(message));
}

function networkReason(code: string): string {
  return networkReasons.find(([pattern]) => pattern.test(code))?.[1] ?? systemReason(code);
}
