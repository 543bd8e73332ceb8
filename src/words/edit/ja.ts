export const edit = {} as const;
