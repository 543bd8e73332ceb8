import { type Administration, createAdministration } from "./admin/administration.ts";
import { createFirstAdministratorDoor, type FirstAdministrator } from "./admin/first-administrator.ts";
import { createUsers, type Users } from "./admin/users.ts";
import type { AccountsDeps } from "./deps.ts";
import { createSecondFactors, type SecondFactors } from "./factors/factors.ts";
import { createEmailChange, type EmailChange } from "./profile/email-change.ts";
import { createProfile, type Profile } from "./profile/profile.ts";
import { createKnownClients } from "./sessions/known-clients.ts";
import { createSessions, type Sessions } from "./sessions/sessions.ts";
import { createPasswordCheck } from "./sign-in/password-check.ts";
import { createPasswords, type Passwords } from "./sign-in/passwords.ts";
import { createRecovery, type Recovery } from "./sign-in/recovery.ts";
import { createSignIn, type SignIn } from "./sign-in/sign-in.ts";
import {
  createOwnConfirmation,
  createRegistration,
  type OwnConfirmation,
  type Registration,
} from "./sign-in/sign-up.ts";
import { createIdentities, type Identities } from "./sso/identities.ts";
import { createSignOnSteps } from "./sso/sign-on-steps.ts";
import { createSingleSignOn, type SingleSignOn } from "./sso/single-sign-on.ts";
import { createAdministrationStore } from "./store/administration.ts";
import { createEmailChangeStore } from "./store/email-change.ts";
import { createIdentityStore } from "./store/identities.ts";
import { createKnownClientStore } from "./store/known-clients.ts";
import { createMailedLinkStore } from "./store/mailed-links.ts";
import { createPasswordStore } from "./store/passwords.ts";
import { createSessionStore } from "./store/sessions.ts";
import { createSignOnStepStore } from "./store/sign-on-steps.ts";
import { createTokenStore } from "./store/tokens.ts";
import { createProfileStore, createUserStore } from "./store/users.ts";
import { type ApiTokens, createApiTokens } from "./tokens/api-tokens.ts";

export type { ApiToken, ClientContext, ListedSession, Passkey, Scope, Session, User } from "./account.ts";
export { allScopes } from "./account.ts";
export type { AdminEntry, Administrator, Change, UserSummary } from "./admin/administration.ts";
export type { FirstRunProblems } from "./admin/first-administrator.ts";
export type { FactorReset } from "./factors/factor-changes.ts";
export {
  type ChangeRefusal,
  type FactorChange,
  type Factors,
  passkeyNameCharactersMax,
} from "./factors/factor-changes.ts";
export type { RelyingParty } from "./factors/passkeys.ts";
export type { FactorGiven, PasskeyAnswer, WaitingSignIn } from "./factors/second-factor.ts";
export { type KindDefaults, noDefaults, type PushDefaults } from "./profile/profile.ts";
export { type PasswordProblem, passwordLimits } from "./sign-in/password-rules.ts";
export type { EntryProblems } from "./sign-in/sign-up.ts";
export type { LinkToConfirm } from "./sso/identities.ts";
export { signOnSettingsPath } from "./sso/single-sign-on.ts";
export type { Identity } from "./store/identities.ts";
export { type TokenHolder, type TokenLimits, tokenLimits } from "./tokens/api-tokens.ts";

/** The door of the room: people, how they sign in, what acts for them. Secrets are returned once, when made. */
export interface Accounts
  extends Users,
    Passwords,
    SignIn,
    Registration,
    OwnConfirmation,
    Recovery,
    FirstAdministrator,
    Sessions,
    SecondFactors,
    Profile,
    EmailChange,
    SingleSignOn,
    Identities,
    ApiTokens,
    Administration {}

export function createAccounts(deps: AccountsDeps): Accounts {
  const users = createUserStore(deps.db);
  const administration = createAdministrationStore(deps.db);
  const knownClients = createKnownClients({ store: createKnownClientStore(deps.db), outbox: deps.outbox });
  const sessions = createSessions({ ...deps, store: createSessionStore(deps.db), knownClients });
  const passwords = createPasswordStore(deps.db);
  const check = createPasswordCheck({ ...deps, knownClients });
  const passwordDoor = createPasswords({ ...deps, store: passwords, check });
  const profile = createProfile({
    ...{ clock: deps.clock, store: createProfileStore(deps.db), checkPassword: passwordDoor.checkPassword },
  });
  const signOn = {
    ...{ ...deps, passwords, check, identities: createIdentityStore(deps.db), startSession: sessions.start },
    steps: createSignOnSteps({ ...deps, store: createSignOnStepStore(deps.db) }),
    findUserByEmail: async (email: string) => (await users.findUserByEmail(email))?.user,
  };
  const links = createMailedLinkStore(deps.db);
  const entry = { ...deps, users, links, passwords, knownClients, startSession: sessions.start };
  return {
    ...createUsers({ ...deps, store: users }),
    ...createRegistration(entry),
    ...createOwnConfirmation(entry),
    ...createRecovery(entry),
    ...createFirstAdministratorDoor(entry),
    ...sessions.door,
    ...createAdministration({ clock: deps.clock, store: administration, findUser: users.findUser }),
    ...createApiTokens({ ...deps, store: createTokenStore(deps.db) }),
    ...passwordDoor,
    ...createSecondFactors({
      ...{ ...deps, starts: sessions, findUser: users.findUser, checkPassword: passwordDoor.checkPassword },
      recordInTransaction: (tx, action, subject, by, now) =>
        administration.recordInTransaction(tx, { action, subject, by, now }),
    }),
    ...profile,
    ...createEmailChange({
      ...{ ...deps, store: createEmailChangeStore(deps.db), confirmIdentity: profile.confirmIdentity },
    }),
    ...createSignIn({ ...deps, store: users, passwords, check, startSession: sessions.start }),
    ...createSingleSignOn(signOn),
    ...createIdentities(signOn),
  };
}
