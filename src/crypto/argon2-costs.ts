/** What one Argon2id hash costs. */
export interface Argon2Costs {
  /** KiB. */
  readonly memoryCost: number;
  /** Passes over the memory. */
  readonly timeCost: number;
  /** What the hash adds to the queue of hashes, in units of 20 ms. */
  readonly queueUnits: number;
}

/**
 * The costs in use, by the number that is stored with a salt or a hash. A row holds only the number: an attacker who can write rows
 * cannot demand gigabytes of memory. Numbers are never reused, and a set stays as long as rows may have its number.
 */
export const parameterSets: Readonly<Record<number, Argon2Costs>> = {
  /** 15 ms: the least that OWASP recommends. */
  1: { memoryCost: 19_456, timeCost: 2, queueUnits: 1 },
  /** 85 ms: RFC 9106, section 4, second recommendation, with one lane. */
  2: { memoryCost: 65_536, timeCost: 3, queueUnits: 5 },
};

/** For the passphrases of anonymous pushes, which anybody may make us hash. */
export const anonymousSet = 1;
/** For passwords, and for the passphrases of users. */
export const userSet = 2;
