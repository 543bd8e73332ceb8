import { expect, test } from "vitest";
import { ClientShares, networksOf } from "./client-shares.ts";

test("no client takes more than its share, and all together no more than there is", () => {
  const shares = new ClientShares({ max: 100, perClientMax: 40 });
  expect(shares.take("192.0.2.1", 40)).toBe(true);
  expect(shares.take("192.0.2.1", 1)).toBe(false);
  expect(shares.take("192.0.2.2", 40)).toBe(true);
  expect(shares.take("192.0.2.3", 21)).toBe(false);
  shares.release("192.0.2.1", 30);
  expect(shares.take("192.0.2.3", 21)).toBe(true);
  shares.release("192.0.2.1", 10);
  shares.release("192.0.2.2", 40);
  shares.release("192.0.2.3", 21);
  expect(shares.held).toBe(0);
});

test("all together may hold exactly what there is", () => {
  const shares = new ClientShares({ max: 80, perClientMax: 40 });
  expect(shares.take("192.0.2.1", 40)).toBe(true);
  expect(shares.take("192.0.2.2", 40)).toBe(true);
  expect(shares.take("192.0.2.3", 1)).toBe(false);
});

test("what is refused is not counted", () => {
  const shares = new ClientShares({ max: 100, perClientMax: 40 });
  expect(shares.take("192.0.2.1", 41)).toBe(false);
  expect(shares.held).toBe(0);
  expect(shares.take("192.0.2.1", 40)).toBe(true);
});

test("the /64 networks of one /56 and of one /48 share larger limits", () => {
  const takeOneEach = (clients: readonly string[]) => {
    const shares = new ClientShares({ max: 1_000, perClientMax: 4 });
    return clients.flatMap((client) => Array.from({ length: 4 }, () => shares.take(client, 1))).filter(Boolean).length;
  };
  expect(takeOneEach(["2001:db8:1:0::/64", "2001:db8:1:1::/64", "2001:db8:1:ff::/64"])).toBe(6);
  expect(takeOneEach(["2001:db8:1:0::/64", "2001:db8:1:100::/64", "2001:db8:1:200::/64"])).toBe(8);
  expect(takeOneEach(["2001:db8:1:0::/64", "2001:db8:2:0::/64", "2001:db8:3:0::/64"])).toBe(12);
  expect(takeOneEach(["192.0.2.1", "192.0.2.2", "192.0.2.3"])).toBe(12);
});

test("the networks of a client", () => {
  const names = (client: string) => networksOf(client).map(({ name }) => name);
  expect(names("192.0.2.1")).toEqual(["192.0.2.1"]);
  expect(names("2001:db8:1:12ab::/64")).toEqual(["2001:db8:1:12ab::/64", "2001:db8:1:1200::/56", "2001:db8:1:0::/48"]);
});
