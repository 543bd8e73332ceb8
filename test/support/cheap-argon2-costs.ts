import { parameterSets as shipped } from "../../src/crypto/argon2-costs.ts";

/** The shipped sets, for hashes in fixtures, and the least that Argon2id allows. */
export const parameterSets: typeof shipped = {
  ...shipped,
  250: { memoryCost: 8, timeCost: 1, queueUnits: 1 },
  251: { memoryCost: 16, timeCost: 1, queueUnits: 5 },
};

export const anonymousSet = 250;
export const userSet = 251;
