/**
 * The programs that Sealpush is delivered with or beside, each pinned to a version, and the last release of its line that
 * fixed a vulnerability, as far as it was known when this was written (28 November 2026). `npm run check` compares each file
 * that names a version with this one, and fails if a version is older than its security release.
 */
export const pinnedPrograms = {
  /** The base image, and the Node of the systemd units. Fixes of 21 October 2026. */
  node: { version: "24.22.1", securityRelease: "24.22.1" },
  /** The image, and the compose files. */
  caddy: { version: "2.11.7", securityRelease: "2.11.7" },
  /** The compose files. Fixes of November 2026, which Debian's 15.20 has too. */
  postgres: { version: "17.12", securityRelease: "17.12" },
} as const;

/**
 * The newest Node 24 that npm's packages have for Linux and Windows. They follow later than nodejs.org, so they are for trials and development: `doctor`,
 * the administrators' overview and `npm run check` say what they lack.
 */
export const nodePackageVersion = "24.21.0";

/** Whether a version is older than another; both are numbers with dots. A missing number is 0. */
export function isOlderVersion(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split(".").map(Number));
  for (let index = 0; index < Math.max(left?.length ?? 0, right?.length ?? 0); index += 1) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Whether this Node lacks fixes that were known when Sealpush was released. Other lines than 24 are not judged. */
export function isNodeOutdated(version: string): boolean {
  const { securityRelease } = pinnedPrograms.node;
  return version.split(".")[0] === securityRelease.split(".")[0] && isOlderVersion(version, securityRelease);
}
