import type { RowWarning } from "./source.ts";

/** Counts rows that the operator should know about, with the ids of the first ones. */
export function createRowWarnings() {
  const rows = new Map<RowWarning, { count: number; readonly first: number[] }>();
  return {
    add(warning: RowWarning, id: number): void {
      const found = rows.get(warning) ?? { count: 0, first: [] };
      found.count += 1;
      if (found.first.length < idsShown) found.first.push(id);
      rows.set(warning, found);
    },
    sentences: () =>
      [...rows].map(([[one, several, advice], { count, first }]) => {
        const ids = `${first.join(", ")}${count > first.length ? ", …" : ""}`;
        return `${count} ${count === 1 ? one : several} (${ids}).${advice === undefined ? "" : ` ${advice}`}`;
      }),
  };
}

const idsShown = 20;

export const underDefaultKey = {
  pushes: [
    "push was sealed under the published default key, completely or in part: anybody with a copy of the database can read it, so change the secrets that matter",
    "pushes were sealed under the published default key, completely or in part: anybody with a copy of the database can read them, so change the secrets that matter",
  ],
  users: [
    "user's two-step sign-in was sealed under the published default key",
    "users' two-step sign-ins were sealed under the published default key",
  ],
  notify_by_emails: [
    "link delivery's addresses were sealed under the published default key",
    "link deliveries' addresses were sealed under the published default key",
  ],
} as const satisfies Readonly<Record<string, RowWarning>>;
