/** Numbers, or the names of parameters. */
type Id = number | `:${string}`;

export function groupActivityPath(groupId: Id): string {
  return `/groups/${groupId}`;
}

export function memberPath(groupId: Id, userId: Id): string {
  return `${groupActivityPath(groupId)}/members/${userId}`;
}

export function memberPushPath(groupId: Id, userId: Id, pushId: Id): string {
  return `${memberPath(groupId, userId)}/pushes/${pushId}`;
}
