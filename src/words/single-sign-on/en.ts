export const singleSignOn = {} as const;
