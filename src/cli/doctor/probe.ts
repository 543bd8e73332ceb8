import { get } from "node:http";
import { systemErrorCode } from "../../config/system-error.ts";

const timeoutMs = 3_000;

export type Probe = (request: {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly hostHeader: string | undefined;
}) => Promise<{ readonly status: number } | { readonly status: undefined; readonly reason: string }>;

/** One GET, its answer's body unread. */
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
      const code = systemErrorCode(error) ?? parserCode(error);
      if (code === undefined) reject(error);
      else resolve({ status: undefined, reason: code });
    });
  });

/** Something answered that does not speak HTTP, or hung up. */
function parserCode(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
