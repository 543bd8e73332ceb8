import type { ClientContext, User } from "../account.ts";
import type { RecordInTransaction } from "../admin/administration.ts";
import type { AccountsDeps } from "../deps.ts";
import type { SessionStarts } from "../sessions/sessions.ts";
import { createFactorStore } from "../store/factors.ts";
import { createPasskeyStore } from "../store/passkeys.ts";
import { createFactorChanges, createFactorUnits, type FactorChanges } from "./factor-changes.ts";
import { createFactorCodes } from "./factor-codes.ts";
import { createPasskeyCeremonies, createPasskeyChallenges } from "./passkeys.ts";
import { createProveAgain, createSecondFactor, type SecondFactor } from "./second-factor.ts";
import { createTotpSetUp } from "./totp.ts";

/** Authenticator apps, passkeys and backup codes: how they are given, and how they are changed. */
export interface SecondFactors extends SecondFactor, FactorChanges {}

export function createSecondFactors(
  deps: AccountsDeps & {
    readonly starts: Pick<SessionStarts, "startComplete">;
    readonly findUser: (userId: number) => Promise<User | undefined>;
    readonly recordInTransaction: RecordInTransaction;
    readonly checkPassword: (userId: number, password: string, client: ClientContext) => Promise<boolean>;
  },
): SecondFactors {
  const factors = createFactorStore(deps.db);
  const passkeys = createPasskeyStore(deps.db);
  const codes = createFactorCodes(factors, deps.keyring);
  const ceremonies = createPasskeyCeremonies({
    ...{ store: passkeys, clock: deps.clock, challenges: createPasskeyChallenges(deps) },
  });
  return {
    ...createSecondFactor({ ...deps, codes, ceremonies }),
    ...createFactorChanges({
      ...{ ...deps, factors, passkeys, codes, ceremonies },
      units: createFactorUnits({ ...deps, factors, passkeys }),
      setUps: createTotpSetUp(deps),
      prove: createProveAgain({ ...deps, codes, ceremonies }),
    }),
  };
}
