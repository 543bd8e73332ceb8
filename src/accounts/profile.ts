import type { Clock } from "../base/clock.ts";
import type { ClientContext, Session } from "./account.ts";
import { isFreshSession, type Passwords } from "./passwords.ts";
import { type PushDefaults, readPushDefaults, writePushDefaults } from "./push-defaults.ts";
import type { ProfileStore } from "./store/profile.ts";

export interface Profile {
  /**
   * Before something that a borrowed session must not do: the password again or, for an account without one, a session
   * that began at most ten minutes ago. @throws AppError too_many_requests, unavailable.
   */
  confirmIdentity(
    session: Pick<Session, "user" | "createdAt">,
    password: string,
    client: ClientContext,
  ): Promise<boolean>;
  /** @param language the tag of one; null: the browser's. */
  setLanguage(userId: number, language: string | null): Promise<void>;
  /** Numbers in it were in range when they were stored; settings may have changed since. */
  pushDefaults(userId: number): Promise<PushDefaults>;
  setPushDefaults(userId: number, defaults: PushDefaults): Promise<void>;
  /** The address that waits for its owner to confirm it; null: none does. */
  unconfirmedEmail(userId: number): Promise<string | null>;
}

export function createProfile({
  store,
  clock,
  checkPassword,
}: {
  readonly store: ProfileStore;
  readonly clock: Clock;
  readonly checkPassword: Passwords["checkPassword"];
}): Profile {
  return {
    async confirmIdentity({ user, createdAt }, password, client) {
      if (user.hasPassword) return await checkPassword(user.id, password, client);
      return isFreshSession({ createdAt }, clock.now());
    },
    setLanguage: (userId, language) => store.setLanguage(userId, language, clock.now()),
    pushDefaults: async (userId) => readPushDefaults(await store.pushDefaults(userId)),
    setPushDefaults: (userId, defaults) => store.setPushDefaults(userId, writePushDefaults(defaults), clock.now()),
    unconfirmedEmail: (userId) => store.unconfirmedEmail(userId),
  };
}
