export const factors = {} as const;
