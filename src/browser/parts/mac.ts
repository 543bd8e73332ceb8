/** Shortcuts are pressed with Command there, not with Control. */
export const isMac = () => /^(?:Mac|iP)/.test(navigator.platform);
