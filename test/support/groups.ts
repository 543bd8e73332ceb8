import { type Group, noRules, type Policy } from "../../src/policies/policies.ts";
import { password, type TestApp } from "./app.ts";

/** A `TestApp`, or a `TestDomain` as `app`. */
type OpenedApp = { readonly app: Pick<TestApp["app"], "domain"> };

/** A token of the group, which an administrator with this address makes. */
export async function makeServiceToken({ app }: OpenedApp, groupId: number, byEmail: string): Promise<string> {
  const { accounts } = app.domain;
  await accounts.createUser({ email: byEmail, password, admin: true });
  const client = { address: "192.0.2.1", userAgent: "", throttleKey: "192.0.2.1" };
  const signedIn = await accounts.signIn({ email: byEmail, password, client });
  const session = await accounts.authenticateSession(signedIn?.sessionToken ?? "");
  if (session === undefined) throw new Error("Nobody is signed in.");
  const asked = { session, client, proof: { typed: "", passkey: null } };
  const wanted = { groupId, name: "pipeline", limits: {}, together: unrecorded };
  const made = await accounts.createServiceToken(asked, wanted);
  if (made.outcome !== "made") throw new Error(made.outcome);
  return made.token;
}

const unrecorded = async () => undefined;

interface GroupOptions {
  readonly rules?: Partial<Policy>;
  readonly claim?: string | null;
  readonly sharesActivity?: boolean;
}

/** @param memberIds of users. */
export async function makeGroup(
  { app }: OpenedApp,
  name: string,
  memberIds: readonly number[],
  { rules = {}, claim = null, sharesActivity = false }: GroupOptions = {},
): Promise<Group> {
  const { groups, policies } = app.domain;
  const group = await groups.create({ name, claim, sharesActivity }, unrecorded);
  if (typeof group === "string") throw new Error(`The group is ${group}.`);
  for (const userId of memberIds) await groups.setMember({ userId, groupId: group.id, isMember: true }, unrecorded);
  await policies.save({ groupId: group.id }, { policy: { ...noRules, ...rules }, revision: 0 }, unrecorded);
  return group;
}
