import type { ClientContext, User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import type { SessionStarts } from "../sessions/sessions.ts";
import type { AdministrationStore } from "../store/administration.ts";
import { createFactorStore } from "../store/factors.ts";
import { createPasskeyStore } from "../store/passkeys.ts";
import { createFactorChanges } from "./factor-changes.ts";
import { createFactorCodes } from "./factor-codes.ts";
import { createPasskeyCeremonies, createPasskeyChallenges } from "./passkeys.ts";
import { createProtectedChanges } from "./protected-changes.ts";
import { createReauthentication, createSecondFactor } from "./second-factor.ts";
import { createTotpSetUp } from "./totp.ts";

/** Authenticator apps, passkeys and backup codes: signing in with them and managing them. */
export function createSecondFactors(
  deps: AccountsDeps & {
    readonly starts: Pick<SessionStarts, "startComplete">;
    readonly findUser: (userId: number) => Promise<User | undefined>;
    readonly recordAction: AdministrationStore["recordAction"];
    readonly checkPassword: (userId: number, password: string, client: ClientContext) => Promise<boolean>;
  },
) {
  const factors = createFactorStore(deps.db, deps.access);
  const passkeys = createPasskeyStore(deps.db, deps.access);
  const codes = createFactorCodes(factors, deps);
  const ceremonies = createPasskeyCeremonies({
    store: passkeys,
    clock: deps.clock,
    challenges: createPasskeyChallenges(deps),
  });
  const reauthenticate = createReauthentication({ ...deps, codes, ceremonies });
  const protectedChanges = createProtectedChanges({ ...deps, factors, passkeys, reauthenticate });
  const { change } = protectedChanges;
  return {
    ...protectedChanges,
    ...createSecondFactor({ ...deps, codes, ceremonies }),
    ...createFactorChanges({
      ...deps,
      factors,
      passkeys,
      codes,
      ceremonies,
      change,
      totpSetUp: createTotpSetUp(deps),
    }),
  };
}
