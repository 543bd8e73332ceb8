import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createClientReader, createPeerReader } from "./client.ts";

function requestFrom(remoteAddress: string, headers: Record<string, string>): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: remoteAddress });
  const request = new IncomingMessage(socket);
  request.headers = { host: "push.example", ...headers };
  return request;
}

function reader(trustedProxies: readonly string[]) {
  const warned: string[] = [];
  return {
    warned,
    read: createClientReader({
      peerOf: createPeerReader(trustedProxies),
      onUntrustedForwarder: (address) => warned.push(address),
    }),
  };
}

const loopback = ["127.0.0.0/8", "::1/128"];

test("without a proxy the connection's address is the client", () => {
  const { read } = reader(loopback);
  expect(read(requestFrom("203.0.113.9", {}))).toEqual({
    address: "203.0.113.9",
    key: "203.0.113.9",
    https: false,
    host: "push.example",
    fromTrustedProxy: false,
  });
  for (const translated of ["::ffff:203.0.113.9", "64:ff9b::203.0.113.9"]) {
    expect(read(requestFrom(translated, {})).key).toBe("203.0.113.9");
  }
  const six = read(requestFrom("2001:db8:1:2:aaaa::1", {}));
  expect(six).toMatchObject({ address: "2001:db8:1:2:aaaa::1", key: "2001:db8:1:2::/64" });
  expect(read(requestFrom("2001:db8:1:2:bbbb::9", {})).key).toBe(six.key);
});

test("a forwarded address may come with the client's port", () => {
  const { read } = reader(loopback);
  const addressOf = (hop: string) => read(requestFrom("127.0.0.1", { "x-forwarded-for": hop })).address;
  expect(addressOf("203.0.113.9:49152")).toBe("203.0.113.9");
  expect(addressOf("[2001:db8::9]:49152")).toBe("2001:db8::9");
  expect(addressOf("[2001:db8::9]")).toBe("2001:db8::9");
  expect(addressOf("2001:db8::9")).toBe("2001:db8::9");
  expect(addressOf("nonsense:80")).toBe("127.0.0.1");
});

test("forwarding headers of an untrusted peer are ignored and reported", () => {
  const { read, warned } = reader(loopback);
  const headers = { "x-forwarded-for": "1.2.3.4", "x-forwarded-proto": "https", "x-forwarded-host": "evil.example" };
  expect(read(requestFrom("203.0.113.9", headers))).toEqual({
    address: "203.0.113.9",
    key: "203.0.113.9",
    https: false,
    host: "push.example",
    fromTrustedProxy: false,
    untrustedProxy: "203.0.113.9",
  });
  expect(warned).toEqual(["203.0.113.9"]);
  // RFC 7239.
  expect(read(requestFrom("203.0.113.8", { forwarded: "for=1.2.3.4" }))).toMatchObject({ address: "203.0.113.8" });
  expect(warned).toEqual(["203.0.113.9", "203.0.113.8"]);
});

test("behind a trusted proxy the client is the rightmost address that is not a trusted proxy", () => {
  const { read, warned } = reader(["127.0.0.1", "10.0.0.0/8"]);
  const forwardedFor = "6.6.6.6, 198.51.100.7, 10.1.2.3";
  const headers = {
    "x-forwarded-for": forwardedFor,
    "x-forwarded-proto": "http, https",
    "x-forwarded-host": "a, b.example",
  };
  expect(read(requestFrom("127.0.0.1", headers))).toEqual({
    address: "198.51.100.7",
    key: "198.51.100.7",
    https: true,
    host: "b.example",
    fromTrustedProxy: true,
  });
  expect(warned).toEqual([]);
});

test("an invalid entry in X-Forwarded-For ends the chain at the last valid address", () => {
  const { read } = reader(["127.0.0.1", "10.0.0.0/8"]);
  const address = (forwardedFor: string) => read(requestFrom("127.0.0.1", { "x-forwarded-for": forwardedFor })).address;
  expect(address("1.2.3.4, <script>, 10.0.0.2")).toBe("10.0.0.2");
  expect(address("")).toBe("127.0.0.1");
  expect(address("10.0.0.9")).toBe("10.0.0.9");
  expect(address(`${"10.0.0.1,".repeat(10_000)}10.0.0.1`)).toBe("10.0.0.1");
  expect(address("::ffff:5.6.7.8")).toBe("5.6.7.8");
  // However much a client claims in front.
  expect(address(`${"6.6.6.6, ".repeat(100)}5.6.7.8`)).toBe("5.6.7.8");
});

test("without trusted proxies, loopback is not trusted either", () => {
  expect(reader([]).read(requestFrom("127.0.0.1", { "x-forwarded-for": "1.2.3.4" })).address).toBe("127.0.0.1");
});
