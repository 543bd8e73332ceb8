/** The data folder is lost when its container is replaced. */
export interface ShortLivedData {
  /** Where it is, in messages: "in an anonymous volume". */
  readonly where: string;
  /** The path at which a volume has to be mounted instead. */
  readonly mountPoint: string;
}

/** Docker and Podman (`/volumes/NAME/_data`) and containerd (`/volumes/NAME`) give volumes without a name 64 hex digits. */
const anonymousVolume = /\/volumes\/[0-9a-f]{64}(?:\/|$)/;
const inMemory = ["tmpfs", "ramfs"];
const volumeName = "sealpush-data";

/**
 * @param mountinfo the text of `/proc/self/mountinfo` in a container. @param folder an absolute path; it need not exist.
 * @returns undefined: the folder outlives the container.
 */
export function findShortLivedData(mountinfo: string, folder: string): ShortLivedData | undefined {
  const [mount] = mountsIn(mountinfo)
    .filter(({ mountPoint }) => mountPoint === "/" || `${folder}/`.startsWith(`${mountPoint}/`))
    // The last of several mounts at one path is the visible one.
    .toReversed()
    .sort((one, other) => other.mountPoint.length - one.mountPoint.length);
  if (mount === undefined) return undefined;
  const { mountPoint, root, type } = mount;
  if (mountPoint === "/") return { where: "in the container itself", mountPoint: folder };
  if (inMemory.includes(type)) return { where: "in memory", mountPoint };
  return anonymousVolume.test(root) ? { where: "in an anonymous volume", mountPoint } : undefined;
}

/** Source: proc(5). `36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/root rw`, with blanks as `\040`. */
function mountsIn(mountinfo: string) {
  return mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root, mountPoint] = before.split(" ").map(unescaped);
    const [type = ""] = after.split(" ");
    return root === undefined || mountPoint === undefined ? [] : [{ root, mountPoint, type }];
  });
}

function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Lines for a compose file that give the data a volume of their own. */
export function volumeLines({ mountPoint }: ShortLivedData): readonly string[] {
  return [
    "    # in this service:",
    "    volumes:",
    `      - ${volumeName}:${mountPoint}`,
    "",
    "# at the end of the file, not indented:",
    "volumes:",
    `  ${volumeName}:`,
  ];
}
