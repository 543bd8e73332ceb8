import type { Clock } from "../../base/clock.ts";
import { isFields } from "../../base/json.ts";
import { isKindName, type KindName, kindNames } from "../../base/push-kinds.ts";
import { type KindOption, kindOptions } from "../../config/topics/kinds.ts";
import type { ClientContext, Session } from "../account.ts";
import { isFreshSession, type Passwords } from "../sign-in/passwords.ts";
import type { ProfileStore } from "../store/users.ts";

export type Profile = ReturnType<typeof createProfile>;

export function createProfile(deps: {
  readonly store: ProfileStore;
  readonly clock: Clock;
  readonly checkPassword: Passwords["checkPassword"];
  readonly onChoiceNotRecorded: (error: unknown) => void;
}) {
  const { store, clock, checkPassword, onChoiceNotRecorded } = deps;
  return {
    /**
     * Reauthenticates before a change that a hijacked session must not make: with the password or, for an account without
     * one, a session that was proved at most ten minutes ago. @throws AppError too_many_requests, unavailable.
     */
    async confirmIdentity(
      { user, provedAt }: Pick<Session, "user" | "provedAt">,
      password: string,
      client: ClientContext,
    ): Promise<boolean> {
      if (user.hasPassword) return await checkPassword(user.id, password, client);
      return isFreshSession({ provedAt }, clock.now());
    },
    /** @param language a language tag; null: the browser's language. */
    setLanguage: (userId: number, language: string | null): Promise<void> =>
      store.setLanguage(userId, language, clock.now()),
    /** The limits may have changed since the numbers were stored. */
    pushDefaults: async (userId: number): Promise<PushDefaults> => readPushDefaults(await store.pushDefaults(userId)),
    setPushDefaults: (userId: number, defaults: PushDefaults): Promise<void> =>
      store.setPushDefaults(userId, writePushDefaults(defaults), clock.now()),
    /**
     * Remembers a choice of the form for the next push. The push of this choice exists already, so a failure is only reported.
     */
    async rememberSenderShown(userId: number, senderShown: boolean): Promise<void> {
      try {
        const defaults = readPushDefaults(await store.pushDefaults(userId));
        if (defaults.senderShown === senderShown) return;
        await store.setPushDefaults(userId, writePushDefaults({ ...defaults, senderShown }), clock.now());
      } catch (error) {
        onChoiceNotRecorded(error);
      }
    },
    /** The new email address that waits for its confirmation; null: none. */
    unconfirmedEmail: (userId: number): Promise<string | null> => store.unconfirmedEmail(userId),
  };
}

/** A user's defaults for the form of one kind of push. Absent: the instance's current default. */
export interface KindDefaults extends Readonly<Partial<Record<KindOption, boolean>>> {
  readonly expireAfterDays?: number;
  readonly expireAfterViews?: number;
}

export interface PushDefaults {
  /** The kind whose form is shown first; null: the instance's default. */
  readonly kind: KindName | null;
  readonly kinds: Readonly<Partial<Record<KindName, KindDefaults>>>;
  /** Whether the form of a new push has chosen at first that recipients see the address. */
  readonly senderShown: boolean;
}

export const noDefaults: PushDefaults = { kind: null, kinds: {}, senderShown: true };

export function writePushDefaults({ kind, kinds, senderShown }: PushDefaults): string {
  return JSON.stringify({ kind, kinds, senderShown });
}

/** Reads the known fields of the right types and ignores what another version may have written. */
export function readPushDefaults(text: string | null): PushDefaults {
  if (text === null) return noDefaults;
  const stored: unknown = JSON.parse(text);
  const kind = fieldOf(stored, "kind");
  const kinds = fieldOf(stored, "kinds");
  return {
    senderShown: fieldOf(stored, "senderShown") !== false,
    kind: isKindName(kind) ? kind : null,
    kinds: Object.fromEntries(
      kindNames.flatMap((name) => {
        const given = fieldOf(kinds, name);
        return given === undefined ? [] : [[name, readKind(given)]];
      }),
    ),
  };
}

function readKind(stored: unknown): KindDefaults {
  const expireAfterDays = fieldOf(stored, "expireAfterDays");
  const expireAfterViews = fieldOf(stored, "expireAfterViews");
  const options = kindOptions.map((option) => [option, fieldOf(stored, option)] as const);
  return {
    ...(typeof expireAfterDays === "number" && { expireAfterDays }),
    ...(typeof expireAfterViews === "number" && { expireAfterViews }),
    ...Object.fromEntries(options.filter(([, value]) => typeof value === "boolean")),
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
