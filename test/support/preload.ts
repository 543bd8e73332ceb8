/** @returns NODE_OPTIONS with which a process runs this module before the program. */
export function preloaded(module: string): string {
  return `--import data:text/javascript,${encodeURIComponent(module)}`;
}
