import { describe, expect, it } from "vitest";
import { findShortLivedData } from "./short-lived-data.ts";

const name = "d1".repeat(32);
const layer = "580 500 0:55 / / rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w";
const proc = "581 580 0:58 / /proc rw,nosuid - proc proc rw";
const mount = (root: string, mountPoint: string, type = "ext4") =>
  `590 580 8:1 ${root} ${mountPoint} rw,relatime master:1 - ${type} /dev/sda1 rw`;
const find = (folder: string, ...mounts: readonly string[]) =>
  findShortLivedData([layer, proc, ...mounts, ""].join("\n"), folder);

describe("a data folder", () => {
  it.each([
    ["a named volume of Docker", mount("/var/lib/docker/volumes/pwpush_storage/_data", "/data")],
    ["a volume of Docker on a disk of its own", mount("/volumes/pwpush/_data", "/data")],
    ["a folder of the host", mount("/srv/sealpush", "/data")],
    ["a disk", mount("/", "/data", "xfs")],
    ["a folder of the host with the name of a volume", mount(`/srv/${name}`, "/data")],
    [
      "a persistent volume of Kubernetes",
      mount("/var/lib/kubelet/pods/1-2/volumes/kubernetes.io~csi/pvc-1/mount", "/data"),
    ],
  ])("in %s outlives the container", (_, line) => {
    expect(find("/data", line)).toBeUndefined();
    expect(find("/data/sealpush", line)).toBeUndefined();
  });

  it.each([
    ["a volume without a name of Docker", mount(`/var/lib/docker/volumes/${name}/_data`, "/data")],
    ["one of Podman", mount(`/containers/storage/volumes/${name}/_data`, "/data")],
    ["one of containerd", mount(`/io.containerd.grpc.v1.cri/containers/${name}/volumes/${name}`, "/data")],
  ])("in %s is lost with it", (_, line) => {
    const lost = { where: "in an anonymous volume", mountPoint: "/data" };
    expect(find("/data", line)).toEqual(lost);
    expect(find("/data/sealpush", line)).toEqual(lost);
  });

  it("on the container's own layer is lost with it", () => {
    const lost = { where: "in the container itself", mountPoint: "/data" };
    expect(find("/data")).toEqual(lost);
    expect(find("/data", mount("/srv/sealpush", "/data2"), mount("/srv/x", "/da"))).toEqual(lost);
  });

  it("in memory is lost with it", () => {
    expect(find("/data", mount("/", "/data", "tmpfs"))).toEqual({ where: "in memory", mountPoint: "/data" });
  });

  it("is on the innermost mount, and on the last one at the same path", () => {
    const anonymous = mount(`/volumes/${name}/_data`, "/data");
    const named = mount("/volumes/pwpush/_data", "/data");
    expect(find("/data", anonymous, named)).toBeUndefined();
    expect(find("/data", named, anonymous)).toBeDefined();
    expect(find("/data/own/x", mount("/srv", "/data/own"), anonymous)).toBeUndefined();
    expect(find("/data/a b", mount("/srv", "/data/a\\040b"), anonymous)).toBeUndefined();
  });
});
