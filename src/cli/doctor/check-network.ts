import { get } from "node:http";
import { isIP } from "node:net";
import { errorCode } from "../../base/errors.ts";
import { reasonOfCode, systemReason } from "../../base/system-error.ts";
import type { Config } from "../../config/config.ts";
import type { ForwarderNote } from "../../database/forwarder-note.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

/** The host in links, and whether clients can choose it. */
export function checkBaseUrl({ overrideBaseUrl, allowedHosts, host }: Config): Finding[] {
  const name = "base URL";
  if (overrideBaseUrl !== undefined) {
    const url = new URL(overrideBaseUrl);
    if (url.protocol === "http:" && !loopback.test(url.hostname)) {
      return [warn(name, `Links start with ${overrideBaseUrl}: without https, secrets can be read on the network.`)];
    }
    return [ok(name, `Links start with ${overrideBaseUrl}.`)];
  }
  if (allowedHosts.length > 0)
    return [ok(name, `Links contain the request's host, one of ${allowedHosts.join(", ")}.`)];
  if (loopback.test(host)) return [ok(name, `Links contain the request's host; the server listens on ${host} only.`)];
  return [warn(name, "Links contain any host that a request names: set PWP__OVERRIDE_BASE_URL or PWP__ALLOWED_HOSTS.")];
}

/** Whether a server answers at the address of the settings, and for the host in its links. */
export async function checkServer(config: Config, probe: Probe): Promise<Finding[]> {
  const name = "server";
  const { port } = config;
  if (port === 0) return [warn(name, "PORT is 0, so the port of the server is not known.")];
  const host = reachableHost(config.host);
  const url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const up = await probe({ host, port, path: "/up", hostHeader: undefined });
  if (up.status === undefined) return [warn(name, `No server answers at ${url} (${up.reason}).`)];
  if (up.status !== 200) return [fail(name, `${url}/up answers ${up.status} instead of 200.`)];
  const ready = await probe({ host, port, path: "/ready", hostHeader: undefined });
  if (ready.status !== 200) return [fail(name, `${url} answers, but is not ready: see its log.`)];
  const answers = ok(name, `It answers at ${url}.`);
  if (config.overrideBaseUrl === undefined) return [answers];

  const hostHeader = new URL(config.overrideBaseUrl).host;
  const version = await probe({ host, port, path: "/api/v2/version", hostHeader });
  if (version.status === 200) return [answers];
  const answered = version.status === undefined ? `no answer (${version.reason})` : `status ${version.status}`;
  return [
    answers,
    fail(
      name,
      `Requests for ${hostHeader}, the host of PWP__OVERRIDE_BASE_URL, get ${answered}: check PWP__ALLOWED_HOSTS.`,
    ),
  ];
}

/** The addresses that mean "all addresses" cannot be connected to; the loopback address is one of them. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

/** @param noted the last peer that sent X-Forwarded-* without being trusted. */
export function checkForwarders(noted: Awaited<ReturnType<ForwarderNote["find"]>>): Finding[] {
  const name = "forwarders";
  if (noted === undefined) return [ok(name, "No untrusted peer has sent X-Forwarded headers.")];
  const seen = new Date(noted.seenAt).toISOString();
  return [
    warn(
      name,
      `${noted.address} sent X-Forwarded headers at ${seen} and is not trusted: if it is your proxy, add it to PWP__TRUSTED_PROXIES.`,
    ),
  ];
}

const timeoutMs = 3_000;

export type Probe = (request: {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly hostHeader: string | undefined;
}) => Promise<{ readonly status: number } | { readonly status: undefined; readonly reason: string }>;

/** Sends one GET; does not read the body of the answer. */
export const probeOverHttp: Probe = ({ host, port, path, hostHeader }) =>
  new Promise((resolve, reject) => {
    const headers = hostHeader === undefined ? {} : { host: hostHeader };
    const request = get({ host, port, path, headers, agent: false, timeout: timeoutMs }, (response) => {
      response.destroy();
      resolve({ status: response.statusCode ?? 0 });
    });
    request.on("timeout", () => {
      resolve({ status: undefined, reason: `nothing within ${timeoutMs / 1_000} seconds` });
      request.destroy();
    });
    request.on("error", (error) => {
      const reason = systemReason(error) ?? parserReason(error);
      if (reason === undefined) reject(error);
      else resolve({ status: undefined, reason });
    });
  });

/** The answer is not HTTP (HPE_...), or the connection was closed early. */
function parserReason(error: Error): string | undefined {
  const code = errorCode(error);
  return code?.startsWith("HPE_") === true ? "an answer that is not HTTP" : code && (reasonOfCode(code) ?? code);
}
