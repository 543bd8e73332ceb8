import { type Group, noRules, type Policy } from "../../src/policies/policies.ts";
import type { TestApp } from "./app.ts";

const unrecorded = async () => undefined;

/** @param memberIds of users. */
export async function makeGroup(
  { app }: TestApp,
  name: string,
  memberIds: readonly number[],
  { rules = {}, claim = null }: { readonly rules?: Partial<Policy>; readonly claim?: string | null } = {},
): Promise<Group> {
  const { groups, policies } = app.domain;
  const group = await groups.create({ name, claim }, unrecorded);
  if (typeof group === "string") throw new Error(`The group is ${group}.`);
  for (const userId of memberIds) await groups.setMember({ userId, groupId: group.id, isMember: true }, unrecorded);
  await policies.save({ groupId: group.id }, { policy: { ...noRules, ...rules }, revision: 0 }, unrecorded);
  return group;
}
