import { describe, expect, it } from "vitest";
import { Distribution, waitingMax } from "./distribution.ts";

/** A distribution of strings as connections, with a record of what each worker got. */
function distribute() {
  const sent: string[] = [];
  const dropped: string[] = [];
  const released: string[] = [];
  const distribution = new Distribution<string>({
    drop: (connection) => dropped.push(connection),
    release: (connection) => released.push(connection),
  });
  const add = (worker: number) => distribution.add(worker, (connection) => sent.push(`${worker}:${connection}`));
  const offer = (...connections: string[]) => {
    for (const connection of connections) distribution.offer(connection);
  };
  return { distribution, sent, dropped, released, add, offer };
}

describe("connections", () => {
  it("wait until there is a worker, and keep their order", () => {
    const { distribution, sent, add, offer } = distribute();
    offer("a", "b");
    expect(sent).toEqual([]);
    add(1);
    distribution.acknowledge(1);
    expect(sent).toEqual(["1:a", "1:b"]);
  });

  it("are distributed round-robin, and skip a busy worker", () => {
    const { distribution, sent, add, offer } = distribute();
    for (const worker of [1, 2, 3]) add(worker);
    offer("a", "b", "c", "d");
    expect(sent).toEqual(["1:a", "2:b", "3:c"]);
    distribution.acknowledge(3);
    distribution.acknowledge(1);
    offer("e");
    expect(sent.slice(3)).toEqual(["3:d", "1:e"]);
  });

  it("are released only after a worker acknowledged them", () => {
    const { distribution, released, add, offer } = distribute();
    add(1);
    offer("a");
    expect(released).toEqual([]);
    distribution.acknowledge(1);
    distribution.acknowledge(1);
    expect(released).toEqual(["a"]);
  });

  it("go to another worker, before later ones, if a lost worker did not acknowledge them", () => {
    const { distribution, sent, add, offer } = distribute();
    add(1);
    offer("a", "b");
    distribution.remove(1);
    expect(sent).toEqual(["1:a"]);
    add(2);
    distribution.acknowledge(2);
    expect(sent.slice(1)).toEqual(["2:a", "2:b"]);
  });

  it("are not sent to a draining worker, which keeps those it has", () => {
    const { distribution, sent, released, add, offer } = distribute();
    add(1);
    offer("a");
    distribution.drain(1);
    distribution.acknowledge(1);
    offer("b");
    expect(sent).toEqual(["1:a"]);
    expect(released).toEqual(["a"]);
    add(2);
    expect(sent.slice(1)).toEqual(["2:b"]);
  });

  it("are waited for by allSent", async () => {
    const { distribution, add, offer } = distribute();
    await distribution.allSent();
    add(1);
    offer("a", "b");
    let all = false;
    const allSent = distribution.allSent().then(() => {
      all = true;
    });
    await Promise.resolve();
    expect(all).toBe(false);
    distribution.acknowledge(1);
    await allSent;
  });

  it("are dropped beyond the maximum that may wait", () => {
    const { sent, dropped, add, offer } = distribute();
    offer(...Array.from({ length: waitingMax }, (_, index) => String(index)), "late");
    expect(dropped).toEqual(["late"]);
    add(1);
    expect(sent).toEqual(["1:0"]);
  });
});
