import { describe, expect, it } from "vitest";
import { isWithin, networkText, parseAddress, parseNetwork } from "./networks.ts";

const contains = (network: string, address: string): boolean => {
  const [parsed, at] = [parseNetwork(network), parseAddress(address)];
  if (parsed === undefined || at === undefined) throw new Error("Not a network or not an address.");
  return isWithin(at, [parsed]);
};

describe("a network", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1/32", "192.0.2.1"],
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["10.255.255.255/9", "10.128.0.0/9"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["2001:DB8:0::1", "2001:db8::1"],
    ["2001:db8:ffff::/33", "2001:db8:8000::/33"],
    ["::/0", "::/0"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:10.1.2.3/104", "10.0.0.0/8"],
    ["::ffff:0:0/96", "0.0.0.0/0"],
  ])("%s is written %s", (given, written) => {
    const network = parseNetwork(given);
    expect(network === undefined ? undefined : networkText(network)).toBe(written);
    expect(parseNetwork(written)).toEqual(network);
  });

  it.each([
    "",
    "10",
    "0x7f.1",
    "10.0.0.0/33",
    "10.0.0/8",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "::/129",
    "/8",
    "fe80::1%eth0",
    "fe80::%1/64",
    "host",
    "10.0.0.0 /8",
    "1.2.3.4/0x8",
    "010.0.0.1",
    "1.2.3.4:80",
    "[::1]",
  ])("is not parsed from %j", (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });

  it.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.0.0.0/8", "::ffff:10.0.0.1", true],
    ["::ffff:10.0.0.0/104", "10.0.0.1", true],
    ["::ffff:10.0.0.1", "10.0.0.1", true],
    ["192.0.2.1", "192.0.2.2", false],
    ["2001:db8::/32", "2001:db8:1::1", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["::/0", "10.0.0.1", false],
    ["0.0.0.0/0", "2001:db8::1", false],
  ])("%s has %s: %s", (network, address, expected) => {
    expect(contains(network, address)).toBe(expected);
  });
});
