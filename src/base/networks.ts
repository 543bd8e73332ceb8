import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** IPv4-mapped IPv6 (RFC 4291, 2.5.5.2) is never one of these: every address is unmapped when it is read. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The first address and the number of its significant bits. */
export type Network = readonly [Address, number];

const mappedBits = 96;

/** @returns undefined when it is not an address. */
export function parseAddress(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

/**
 * Parses an address or a network in CIDR notation. Only the usual spellings: "10" or "0x7f.1" would mean another network than
 * most readers expect.
 * @returns undefined when it is neither.
 */
export function parseNetwork(text: string): Network | undefined {
  if (text.includes("%")) return undefined;
  if (!text.includes("/")) {
    if (isIP(text) === 0) return undefined;
    const address = ipaddr.process(text);
    return [address, bitsOf(address)];
  }
  if (!/\/\d{1,3}$/.test(text)) return undefined;
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(text) && !ipaddr.IPv6.isValidCIDR(text)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= mappedBits) {
    return firstOf(address.toIPv4Address(), bits - mappedBits);
  }
  return firstOf(address, bits);
}

/** For texts that were validated when they were stored; an invalid one matches no address. */
export function parseNetworks(texts: readonly string[]): readonly Network[] {
  return texts.map(parseNetwork).filter((network) => network !== undefined);
}

/** The shortest form that `parseNetwork` reads; a single address without a prefix length. */
export function networkText([address, bits]: Network): string {
  return bits === bitsOf(address) ? address.toString() : `${address.toString()}/${bits}`;
}

export function isWithin(address: Address, networks: readonly Network[]): boolean {
  return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

/** The name of a client, for limits: its IPv4 address or its IPv6 /64 network. */
export function clientKey(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  // RFC 6052, the well-known prefix: a translator's IPv6 address of an IPv4 client.
  if (address.range() === "rfc6052") return new ipaddr.IPv4(address.toByteArray().slice(12)).toString();
  const network = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

function bitsOf(address: Address): number {
  return address instanceof ipaddr.IPv4 ? 32 : 128;
}

function firstOf(address: Address, bits: number): Network {
  const bytes = address
    .toByteArray()
    .map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * index))) & 0xff);
  return [ipaddr.fromByteArray(bytes), bits];
}
