import type { IncomingMessage } from "node:http";
import { clientKey, isWithin, parseAddress, parseNetworks } from "../base/networks.ts";

/** The sender of a request, according to the connection and trusted proxies. */
export interface Client {
  /** IPv4, or IPv6 in its shortest form; for the audit trail. */
  readonly address: string;
  /** The key of limits: the IPv4 address, or the IPv6 /64 network, which usually belongs to one household or attacker. */
  readonly key: string;
  readonly https: boolean;
  /** It is not validated here: `base-url.ts` does that. */
  readonly host: string;
  /** The connection itself comes from a trusted proxy. */
  readonly fromTrustedProxy: boolean;
  /** The other end of the connection, if it sends forwarding headers and is not trusted. */
  readonly untrustedProxy?: string;
}

/** The other end of a connection, or a proxy or client before it. */
interface Peer {
  readonly address: string;
  readonly key: string;
  readonly trusted: boolean;
}

const peersMax = 4_096;
/** How many entries of X-Forwarded-For are read, from the right. */
const hopsMax = 32;
export const unknownPeer: Peer = { address: "0.0.0.0", key: "0.0.0.0", trusted: false };

export type PeerReader = ReturnType<typeof createPeerReader>;

/**
 * @param trustedProxies addresses and CIDR networks.
 * @returns the function that parses an address; it returns undefined for text that is not one.
 */
export function createPeerReader(trustedProxies: readonly string[]) {
  const networks = parseNetworks(trustedProxies);
  const peers = new Map<string, Peer>();
  return (text: string): Peer | undefined => {
    const known = peers.get(text);
    if (known !== undefined) return known;
    const address = parseAddress(text);
    if (address === undefined) return undefined;
    const peer = { address: address.toString(), key: clientKey(address), trusted: isWithin(address, networks) };
    if (peers.size >= peersMax) peers.clear();
    peers.set(text, peer);
    return peer;
  };
}

interface ClientReaderDeps {
  readonly peerOf: PeerReader;
  /** Called for each such request. */
  readonly onUntrustedForwarder: (address: string) => void;
}

/**
 * X-Forwarded-For, -Proto and -Host count only when the connection itself comes from a trusted proxy. The client is then
 * the rightmost address that is not a trusted proxy. All entries to its left can be forged.
 */
export function createClientReader(deps: ClientReaderDeps): (request: IncomingMessage) => Client {
  const { peerOf } = deps;

  function clientBehind(proxy: Peer, forwardedFor: string): Peer {
    let client = proxy;
    const hops = forwardedFor.split(",").slice(-hopsMax);
    for (const hop of hops.reverse()) {
      if (!client.trusted) break;
      const previous = peerOf(withoutPort(hop.trim()));
      if (previous === undefined) break;
      client = previous;
    }
    return client;
  }

  return (request) => {
    const { headers, socket } = request;
    const peer = peerOf(socket.remoteAddress ?? "") ?? unknownPeer;
    const host = headers.host ?? "";
    const forwardedFor = headers["x-forwarded-for"];
    const forwardedProto = headers["x-forwarded-proto"];
    const forwardedHost = headers["x-forwarded-host"];
    const isForwarded = (forwardedFor ?? forwardedProto ?? forwardedHost ?? headers.forwarded) !== undefined;
    if (!isForwarded) {
      return { address: peer.address, key: peer.key, https: false, host, fromTrustedProxy: peer.trusted };
    }
    if (!peer.trusted) {
      deps.onUntrustedForwarder(peer.address);
      return {
        address: peer.address,
        key: peer.key,
        https: false,
        host,
        fromTrustedProxy: false,
        untrustedProxy: peer.address,
      };
    }
    const client = forwardedFor === undefined ? peer : clientBehind(peer, asText(forwardedFor));
    return {
      address: client.address,
      key: client.key,
      https: lastOf(asText(forwardedProto)).toLowerCase() === "https",
      host: forwardedHost === undefined ? host : lastOf(asText(forwardedHost)),
      fromTrustedProxy: true,
    };
  };
}

/** Some proxies append the client's port: `192.0.2.1:49152`, `[2001:db8::1]:49152`. A bare IPv6 address has no port. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] = /^\[([^\]]*)\](?::\d+)?$|^([^:]*):\d+$/.exec(hop) ?? [];
  return bracketed ?? plain ?? hop;
}

function asText(header: string | readonly string[] | undefined): string {
  return typeof header === "string" ? header : (header ?? []).join(",");
}

/** Each proxy appends its value, so the last one comes from the trusted proxy. */
function lastOf(list: string): string {
  return list.slice(list.lastIndexOf(",") + 1).trim();
}
