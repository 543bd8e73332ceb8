import { createCipheriv, createHmac, randomBytes } from "node:crypto";
import { systemRandom } from "../src/base/random.ts";
import { createSodium, encodeParts } from "../src/crypto/sodium.ts";
import { loadNativeSodium, loadPortableSodium } from "../src/crypto/sodium-library.ts";

/** Compares the builds of libsodium with node:crypto; docs/decisions/0040 has the figures. */

const rounds = 5;
const sizes = [
  { bytes: 48, times: 20_000 },
  { bytes: 65_536, times: 500 },
  { bytes: 1_048_576, times: 30 },
  { bytes: 4_194_304, times: 10 },
] as const;

/** Prints the microseconds of one operation in the best round. */
function measure(name: string, times: number, operation: () => unknown): void {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round += 1) {
    const start = performance.now();
    for (let at = 0; at < times; at += 1) operation();
    // The first round warms up.
    if (round > 0) bestMs = Math.min(bestMs, performance.now() - start);
  }
  console.log(`${name.padEnd(40)} ${((bestMs * 1_000) / times).toFixed(2).padStart(10)} us`);
}

const key = randomBytes(32);
const data = encodeParts("pushes", "payload", 42, null);

for (const library of [await loadNativeSodium(), await loadPortableSodium()]) {
  const { sealAead, openAead, keyedHash, deriveKey } = createSodium(library);
  measure(`${library.name}: keyed hash`, 50_000, () =>
    keyedHash(key, 16, "link check", "0123456789abcdefghjkmnpqrstvwxyz"),
  );
  measure(`${library.name}: derived key`, 50_000, () => deriveKey(key, "push key", 42, 1, "text", null));
  for (const { bytes, times } of sizes) {
    const plaintext = randomBytes(bytes);
    const sealed = sealAead(key, data, plaintext, systemRandom);
    measure(`${library.name}: seal ${bytes}`, times, () => sealAead(key, data, plaintext, systemRandom));
    measure(`${library.name}: open ${bytes}`, times, () => openAead(key, data, sealed));
    const damaged = Buffer.from(sealed).fill(0, bytes);
    measure(`${library.name}: refuse ${bytes}`, times, () => openAead(key, data, damaged));
  }
}

for (const { bytes, times } of sizes) {
  const plaintext = randomBytes(bytes);
  measure(`node:crypto AES-GCM: seal ${bytes}`, times, () => {
    const cipher = createCipheriv("aes-256-gcm", key, systemRandom.bytes(12)).setAAD(data);
    return [cipher.update(plaintext), cipher.final(), cipher.getAuthTag()];
  });
}
measure("node:crypto: createHmac", 20_000, () => createHmac("sha256", key).update(data).digest());
