import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { parseNetwork } from "../base/networks.ts";
import { accepted, type Parsed, rejected, type ValueType } from "./value-types.ts";

const listEntriesMax = 200;
const hostLength = 253;

function splitList(text: string): string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== "");
}

/**
 * Lower case; names outside ASCII in their ASCII form (UTS 46), as a Host header carries them; IPv6 in brackets.
 * undefined: not a host.
 */
function hostOf(text: string): string | undefined {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (isIP(bare) === 6) return bare.includes("%") ? undefined : new URL(`http://[${bare}]`).hostname;
  if (bare !== text) return undefined;
  if (isIP(text) === 4) return text;
  // domainToASCII would drop what follows a "/", "?" or "#".
  if (/[/?#@:%\\]/.test(text)) return undefined;
  const name = domainToASCII(text);
  const labels = name.split(".");
  const wellFormed = labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  // A numeric last label would make it an IPv4 address in a loose spelling.
  const namesHost = wellFormed && !/^\d+$/.test(labels.at(-1) ?? "");
  return namesHost && name.length <= hostLength ? name : undefined;
}

export const listenAddress: ValueType<string> = {
  allowed: "an IP address (0.0.0.0 and :: are all of this machine's) or a host name, without a port",
  parse(text) {
    const host = hostOf(text);
    if (host === undefined) return rejected;
    return accepted(host.startsWith("[") ? host.slice(1, -1) : host);
  },
};

export const hostNames: ValueType<readonly string[]> = {
  allowed: `host names without scheme and port, separated by commas or blanks, at most ${listEntriesMax}; .example.com stands for every name under example.com`,
  parse(text): Parsed<readonly string[]> {
    const entries = splitList(text);
    if (entries.length > listEntriesMax) return rejected;
    const hosts: string[] = [];
    for (const entry of entries) {
      const suffix = entry.startsWith(".");
      const host = hostOf(suffix ? entry.slice(1) : entry);
      if (host === undefined || (suffix && isIP(entry.slice(1)) !== 0)) return rejected;
      hosts.push(suffix ? `.${host}` : host);
    }
    return hosts.length === 0 ? rejected : accepted(hosts);
  },
};

export const networks: ValueType<readonly string[]> = {
  allowed: `IP addresses and networks (10.0.0.0/8, fd00::/8), separated by commas or blanks, at most ${listEntriesMax}`,
  parse(text): Parsed<readonly string[]> {
    const entries = splitList(text);
    const good =
      entries.length > 0 &&
      entries.length <= listEntriesMax &&
      entries.every((entry) => parseNetwork(entry) !== undefined);
    return good ? accepted(entries) : rejected;
  },
};

/** A host with an optional port, as in a URL. */
export const hostAndPort: ValueType<string> = {
  allowed: "a host name or an IP address, with a port if need be, such as push.example.com",
  parse(text) {
    const [, name = "", port = ""] = /^(\[.*\]|[^:]*)(:[1-9]\d{0,4})?$/.exec(text) ?? [];
    const host = hostOf(name);
    return host === undefined || Number(port.slice(1)) > 65_535 ? rejected : accepted(`${host}${port}`);
  },
};

/** RFC 6454: the scheme, the host, and the port unless it is the scheme's default. */
export const webOrigin: ValueType<string> = {
  allowed: "an address of the form https://push.example.com or http://host:port, with nothing after the host and port",
  parse(text) {
    if (!/^https?:\/\/[^\s\p{Cc}\\]+$/iu.test(text) || !URL.canParse(text)) return rejected;
    const url = new URL(text);
    const bare = url.username === "" && url.password === "" && url.pathname === "/" && url.search + url.hash === "";
    return bare ? accepted(url.origin) : rejected;
  },
};

export const hostName: ValueType<string> = {
  allowed: "a host name or an IP address, without a port",
  parse: listenAddress.parse,
};
