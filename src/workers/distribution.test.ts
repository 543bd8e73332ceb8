import { describe, expect, it } from "vitest";
import { Distribution, waitingMax } from "./distribution.ts";

/** A distribution of connections that are strings, with a book of who got which. */
function distribute() {
  const given: string[] = [];
  const dropped: string[] = [];
  const released: string[] = [];
  const distribution = new Distribution<string>({
    drop: (connection) => dropped.push(connection),
    release: (connection) => released.push(connection),
  });
  const join = (worker: number) => distribution.join(worker, (connection) => given.push(`${worker}:${connection}`));
  const offer = (...connections: string[]) => {
    for (const connection of connections) distribution.offer(connection);
  };
  return { distribution, given, dropped, released, join, offer };
}

describe("connections", () => {
  it("wait until a worker serves, and keep their order", () => {
    const { distribution, given, join, offer } = distribute();
    offer("a", "b");
    expect(given).toEqual([]);
    join(1);
    distribution.taken(1);
    expect(given).toEqual(["1:a", "1:b"]);
  });

  it("go to workers in turn, past one that is busy", () => {
    const { distribution, given, join, offer } = distribute();
    for (const worker of [1, 2, 3]) join(worker);
    offer("a", "b", "c", "d");
    expect(given).toEqual(["1:a", "2:b", "3:c"]);
    distribution.taken(3);
    distribution.taken(1);
    offer("e");
    expect(given.slice(3)).toEqual(["3:d", "1:e"]);
  });

  it("are closed here only when a worker has them", () => {
    const { distribution, released, join, offer } = distribute();
    join(1);
    offer("a");
    expect(released).toEqual([]);
    distribution.taken(1);
    distribution.taken(1);
    expect(released).toEqual(["a"]);
  });

  it("that a worker had not taken when it died go to another, before later ones", () => {
    const { distribution, given, join, offer } = distribute();
    join(1);
    offer("a", "b");
    distribution.lose(1);
    expect(given).toEqual(["1:a"]);
    join(2);
    distribution.taken(2);
    expect(given.slice(1)).toEqual(["2:a", "2:b"]);
  });

  it("are not given to one that leaves, which keeps what it has", () => {
    const { distribution, given, released, join, offer } = distribute();
    join(1);
    offer("a");
    distribution.leave(1);
    distribution.taken(1);
    offer("b");
    expect(given).toEqual(["1:a"]);
    expect(released).toEqual(["a"]);
    join(2);
    expect(given.slice(1)).toEqual(["2:b"]);
  });

  it("are waited for before the last worker goes", async () => {
    const { distribution, join, offer } = distribute();
    await distribution.allGiven();
    join(1);
    offer("a", "b");
    let all = false;
    const allGiven = distribution.allGiven().then(() => {
      all = true;
    });
    await Promise.resolve();
    expect(all).toBe(false);
    distribution.taken(1);
    await allGiven;
  });

  it("that nobody can take are dropped, and no more wait than may", () => {
    const { given, dropped, join, offer } = distribute();
    offer(...Array.from({ length: waitingMax }, (_, index) => String(index)), "late");
    expect(dropped).toEqual(["late"]);
    join(1);
    expect(given).toEqual(["1:0"]);
  });
});
