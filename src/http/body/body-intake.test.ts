import { expect, test } from "vitest";
import { type BodyHold, BodyIntake, bodyMemoryLimits } from "./body-intake.ts";

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const nextTurn = async () => undefined;
const never = () => false;

test("one client's bodies do not use up the memory of others'", () => {
  const intake = new BodyIntake({ max: 100 * kibibyte, perClientMax: 40 * kibibyte }, never, nextTurn);
  const first = intake.hold("192.0.2.1");
  first.add(16 * kibibyte + 30 * kibibyte);
  const second = intake.hold("192.0.2.1");
  expect(() => second.add(16 * kibibyte + 20 * kibibyte)).toThrow("Too many large bodies");
  intake.hold("192.0.2.2").add(56 * kibibyte);
  first.release();
  second.add(56 * kibibyte);
  second.release();
  second.release();
  expect(intake.heldBytes).toBe(40 * kibibyte);
});

test("the start of each body is not counted, in whatever chunks it arrives", () => {
  const intake = new BodyIntake({ max: mebibyte, perClientMax: mebibyte }, never, nextTurn);
  const hold = intake.hold("192.0.2.1");
  for (let count = 0; count < 16; count += 1) hold.add(kibibyte);
  expect(intake.heldBytes).toBe(0);
  for (let count = 0; count < 16; count += 1) hold.add(kibibyte);
  expect(intake.heldBytes).toBe(16 * kibibyte);
});

test("while the process is short of memory, a body of a mebibyte is refused and a smaller one is not", () => {
  let isShort = true;
  const intake = new BodyIntake({ max: 10 * mebibyte, perClientMax: 10 * mebibyte }, () => isShort, nextTurn);
  const refused = intake.hold("192.0.2.1");
  refused.add(mebibyte - 1);
  expect(() => refused.add(1)).toThrow("Too many large bodies");
  refused.release();
  expect(intake.heldBytes).toBe(0);
  isShort = false;
  intake.hold("192.0.2.1").add(5 * mebibyte);
});

test("a body that passes counts with at most what is in memory of it", async () => {
  const intake = new BodyIntake({ max: 100 * kibibyte, perClientMax: 100 * kibibyte }, never, nextTurn);
  async function* content(): AsyncGenerator<Buffer> {
    for (let sent = 0; sent < 8; sent += 1) yield Buffer.alloc(20 * kibibyte);
  }
  const receive = async (hold: BodyHold, bytesMax = 70 * kibibyte) => {
    let bytes = 0;
    for await (const chunk of hold.passing(content(), bytesMax)) bytes += chunk.length;
    return bytes;
  };
  const [first, second] = [intake.hold("192.0.2.1"), intake.hold("192.0.2.1")];
  expect(await receive(first)).toBe(160 * kibibyte);
  // The first 16 KiB of each body are not counted.
  expect(intake.heldBytes).toBe(54 * kibibyte);
  await expect(receive(second)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  for (const hold of [first, second]) hold.release();
  expect(intake.heldBytes).toBe(0);
  expect(await receive(intake.hold("192.0.2.1"), 0)).toBe(160 * kibibyte);
  expect(intake.heldBytes).toBe(0);
});

test.each([
  [128, 48, 32],
  [256, 48, 32],
  [512, 64, 32],
  [4_096, 256, 64],
])("of %i MiB of memory, bodies get %i MiB, and those of one client %i", (memory, max, perClientMax) => {
  expect(bodyMemoryLimits(memory * mebibyte)).toEqual({ max: max * mebibyte, perClientMax: perClientMax * mebibyte });
});
