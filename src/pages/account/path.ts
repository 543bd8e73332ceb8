export const accountPath = "/users/edit";

/** The tabs of the page, in their order. The first one is at `accountPath` alone. */
export const accountTabs = ["general", "access", "sessions", "defaults", "data"] as const;
export type AccountTab = (typeof accountTabs)[number];

export function accountTabPath(tab: AccountTab): string {
  return tab === accountTabs[0] ? accountPath : `${accountPath}?tab=${tab}`;
}

export const presetsPath = `${accountPath}/presets`;
