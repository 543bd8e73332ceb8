import { createAdministration } from "./admin/administration.ts";
import { createBreakGlass } from "./admin/break-glass.ts";
import { createFirstAdministrator } from "./admin/first-administrator.ts";
import { createUsers } from "./admin/users.ts";
import type { AccountsDeps } from "./deps.ts";
import { createSecondFactors } from "./factors/factors.ts";
import type { ProtectedChanges } from "./factors/protected-changes.ts";
import { createEmailChange } from "./profile/email-change.ts";
import { createProfile } from "./profile/profile.ts";
import { createScim } from "./scim/scim.ts";
import { createKnownClients } from "./sessions/known-clients.ts";
import { createSessionLists } from "./sessions/session-lists.ts";
import { createSessionStarts, createSessions, type SessionStarts } from "./sessions/sessions.ts";
import { createPasswordCheck } from "./sign-in/password-check.ts";
import { createPasswords } from "./sign-in/passwords.ts";
import { createRecovery } from "./sign-in/recovery.ts";
import { createSignIn } from "./sign-in/sign-in.ts";
import { createOwnConfirmation, createRegistration } from "./sign-in/sign-up.ts";
import { createFreshSignOn } from "./sso/fresh-sign-on.ts";
import { createIdentities } from "./sso/identities.ts";
import { createSignOnCheck } from "./sso/sign-on-check.ts";
import { createSignOnSteps } from "./sso/sign-on-steps.ts";
import { createSingleSignOn } from "./sso/single-sign-on.ts";
import { createAdministrationStore } from "./store/administration.ts";
import { createEmailChangeStore } from "./store/email-change.ts";
import { createIdentityStore, createRelinking } from "./store/identities.ts";
import { createKnownClientStore } from "./store/known-clients.ts";
import { createMailedLinkStore } from "./store/mailed-links.ts";
import { PasswordSeals } from "./store/password-seals.ts";
import { createPasswordStore } from "./store/passwords.ts";
import { createScimStore } from "./store/scim-users.ts";
import { createServiceAccountStore } from "./store/service-accounts.ts";
import { createSessionSearch } from "./store/session-search.ts";
import { createSessionStore } from "./store/sessions.ts";
import { createSignOnStepStore } from "./store/sign-on-steps.ts";
import { createTokenStore } from "./store/tokens.ts";
import { createProfileStore, createUserStore } from "./store/users.ts";
import { createApiTokens } from "./tokens/api-tokens.ts";
import { createServiceTokens } from "./tokens/service-tokens.ts";

export type {
  ApiToken,
  ClientContext,
  ListedSession,
  Passkey,
  Scope,
  Session,
  SessionOfUser,
  SessionWay,
  User,
} from "./account.ts";
export { allScopes, noOrigin } from "./account.ts";
export type { AdminEntry, Administrator, Change, UserSummary } from "./admin/admin-actions.ts";
export { usersPerPage } from "./admin/administration.ts";
export { breakGlassPath } from "./admin/break-glass.ts";
export {
  type FactorReset,
  type Factors,
  passkeyNameCharactersMax,
} from "./factors/factor-changes.ts";
export type { RelyingParty } from "./factors/passkeys.ts";
export type { ChangeRefusal, ProtectedChange } from "./factors/protected-changes.ts";
export type { PasskeyAnswer, WaitingSignIn } from "./factors/second-factor.ts";
export { type KindDefaults, noDefaults, type PushDefaults } from "./profile/profile.ts";
export { type NewScimUser, type Scim, type ScimRefusal, ScimRefusedError, type ScimUser } from "./scim/scim.ts";
export { type PasswordProblem, passwordLimits } from "./sign-in/password-rules.ts";
export type { LinkToConfirm } from "./sso/identities.ts";
export type { ClaimRefusal } from "./sso/provider-claims.ts";
export { signOnSettingsPath } from "./sso/single-sign-on.ts";
export type { Identity } from "./store/identities.ts";
export type { SessionPosition, SessionSearch } from "./store/session-search.ts";
export { type MadeToken, type TokenHolder, type TokenLimits, tokenLimits } from "./tokens/api-tokens.ts";

export type Accounts = ReturnType<typeof createAccounts>;

function createStores(deps: AccountsDeps) {
  const seals = new PasswordSeals(deps);
  const scimStore = createScimStore(deps.access, deps.provider?.issuer);
  return {
    scimStore,
    scim: createScim({ ...deps, seals, store: scimStore }),
    users: createUserStore(deps.db, seals, deps.random),
    administration: createAdministrationStore(deps.db, deps.access),
    links: createMailedLinkStore(deps.db, seals),
    passwordStore: createPasswordStore(deps.db, seals),
    sessionStore: createSessionStore(deps.db, deps.access),
    identities: createIdentityStore(deps.db, seals, deps.random),
    relinking: createRelinking(deps.db, deps.access),
    emailChangeStore: createEmailChangeStore(deps.db, deps.access),
    serviceAccounts: createServiceAccountStore(deps.db.read, seals, deps.random),
  };
}

/** Mostly for commands in a shell. */
function operatorParts(
  deps: AccountsDeps,
  stores: ReturnType<typeof createStores>,
  startSession: SessionStarts["start"],
) {
  const { users, links, administration } = stores;
  const { recordAction } = administration;
  return {
    ...createUsers({ ...deps, store: users, links }),
    ...createBreakGlass({ ...deps, links, outbox: deps.requestedOutbox, recordAction, startSession }),
    ...createAdministration({ clock: deps.clock, store: administration, findUser: users.findUser }),
    ...createSignOnCheck({ ...deps, ...stores }),
  };
}

/** API tokens of people, and those of groups. */
function tokenParts(deps: AccountsDeps, stores: ReturnType<typeof createStores>, change: ProtectedChanges["change"]) {
  const { tokens, ...apiTokens } = createApiTokens({ ...deps, store: createTokenStore(deps.db, deps.access), change });
  const { serviceAccounts: store } = stores;
  const serviceTokens = createServiceTokens({ clock: deps.clock, store, groups: deps.claimedGroups, tokens, change });
  return { ...apiTokens, ...serviceTokens };
}

/** The entry point of this room: users, how they sign in, and their API tokens. Secrets are returned once, on creation. */
export function createAccounts(deps: AccountsDeps) {
  const stores = createStores(deps);
  const { users, administration, links, passwordStore, sessionStore, identities } = stores;
  const knownClients = createKnownClients({ store: createKnownClientStore(deps.db), outbox: deps.outbox });
  const starts = createSessionStarts({ ...deps, store: sessionStore, knownClients });
  const checkToLink = createPasswordCheck({ ...deps, knownClients });
  // Where single sign-on is the only way in, a password proves only whose account an identity is to be linked to.
  const check = deps.settings.signOnOnly ? async () => false : checkToLink;
  const passwords = createPasswords({ ...deps, store: passwordStore, check });
  const profile = createProfile({
    clock: deps.clock,
    store: createProfileStore(deps.db),
    checkPassword: passwords.checkPassword,
    onChoiceNotRecorded: (error) => deps.onUseNotRecorded("sender_choice", error),
  });

  const secondFactors = createSecondFactors({
    ...deps,
    starts,
    findUser: users.findUser,
    checkPassword: passwords.checkPassword,
    recordAction: administration.recordAction,
  });

  const signUp = { ...deps, users, links, passwords: passwordStore, knownClients, startSession: starts.start };
  const sessions = createSessions({ ...deps, store: sessionStore });
  const steps = createSignOnSteps({ ...deps, store: createSignOnStepStore(deps.db) });
  const fresh = createFreshSignOn({
    ...deps,
    outbox: deps.requestedOutbox,
    steps,
    identities,
    passwords: passwordStore,
  });
  const singleSignOn = {
    ...deps,
    ...stores,
    passwords: passwordStore,
    check: checkToLink,
    startSession: starts.start,
    steps,
    fresh,
    endProviderSessions: sessions.endProviderSessions,
    findUserByEmail: async (email: string) => (await users.findUserByEmail(email))?.user,
  };

  return {
    ...operatorParts(deps, stores, starts.start),
    ...createRegistration(signUp),
    ...createOwnConfirmation(signUp),
    ...createRecovery(signUp),
    ...createFirstAdministrator(signUp),
    ...sessions,
    ...createSessionLists({ ...deps, store: sessionStore, search: createSessionSearch(deps.db, deps.access) }),
    ...secondFactors,
    ...tokenParts(deps, stores, secondFactors.change),
    ...passwords,
    ...profile,
    ...createEmailChange({ ...deps, store: stores.emailChangeStore, confirmIdentity: profile.confirmIdentity }),
    ...createSignIn({ ...deps, store: users, passwords: passwordStore, check, startSession: starts.start }),
    ...createSingleSignOn(singleSignOn),
    ...createIdentities(singleSignOn),
    ...fresh,
    /** What the identity provider does over SCIM. */
    scim: stores.scim,
  };
}
