import { expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import { createLargePayloads } from "./large-payloads.ts";

const large = 4 * 1024 * 1024;

/** Writes that end when the test resolves their promise. */
function controlledWrites() {
  const payloads = createLargePayloads();
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    end: (name: string) => ends.get(name)?.(),
    write: (name: string, bytes: number, client = name) =>
      payloads.write(bytes, client, async () => {
        started.push(name);
        await new Promise<void>((end) => ends.set(name, end));
      }),
  };
}

test("large payloads are written one after the other, small ones at once", async () => {
  const { started, end, write } = controlledWrites();
  const first = write("first", large);
  const second = write("second", large);
  const small = write("small", 1_000);
  await expect.poll(() => started).toEqual(["small", "first"]);
  end("first");
  await first;
  await expect.poll(() => started).toEqual(["small", "first", "second"]);
  end("second");
  end("small");
  await Promise.all([second, small]);
});

test("one client does not use up the queue", async () => {
  const { started, end, write } = controlledWrites();
  const running = write("running", large);
  const waiting = Array.from({ length: 16 }, (_, index) => write(`waiting ${index}`, large, "flooding"));
  await expect(write("refused", large, "flooding")).rejects.toThrow(AppError);
  const other = write("other", large);
  end("running");
  await running;
  for (let count = 0; count < waiting.length + 1; count += 1) {
    await expect.poll(() => started.length).toBe(count + 2);
    end(started.at(-1) ?? "");
  }
  await Promise.all([...waiting, other]);
  expect(started.indexOf("other")).toBe(2);
});
