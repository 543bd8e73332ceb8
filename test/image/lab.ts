import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What ends `podman run` of each container that the compose files and the guide describe. */
const hardening = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"];

export interface Finished {
  readonly status: number;
  readonly output: string;
}

/**
 * Podman with a store, volumes and a network of its own: nothing of the machine's is read or changed. It runs as root, without
 * an engine. Docker's own commands take the same options.
 */
export class ImageLab {
  readonly folder: string;
  readonly #namespace: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(folder: string) {
    this.folder = folder;
    this.#namespace = `sealpush-${folder.slice(-6)}`;
    this.#environment = {
      ...process.env,
      CONTAINERS_STORAGE_CONF: join(folder, "storage.conf"),
      CONTAINERS_CONF: join(folder, "containers.conf"),
    };
  }

  static make(): ImageLab {
    const lab = new ImageLab(mkdtempSync(join(tmpdir(), "sealpush-image-")));
    lab.#prepare();
    return lab;
  }

  #prepare(): void {
    const { folder } = this;
    mkdirSync(join(folder, "files"));
    writeFileSync(
      join(folder, "storage.conf"),
      `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/store"\nrunroot = "${folder}/run"\n`,
    );
    writeFileSync(
      join(folder, "containers.conf"),
      [
        "[containers]",
        `default_ulimits = [${this.#limits.map((limit) => JSON.stringify(limit)).join(", ")}]`,
        "[engine]",
        'runtime = "runc"',
        'cgroup_manager = "cgroupfs"',
        'events_logger = "file"',
        `tmp_dir = "${folder}/libpod"`,
        `static_dir = "${folder}/static"`,
        `volume_path = "${folder}/volumes"`,
        "[network]",
        'network_backend = "netavark"',
        `network_config_dir = "${folder}/networks"`,
        "",
      ].join("\n"),
    );
    execFileSync("ip", ["netns", "add", this.#namespace]);
    execFileSync("ip", ["netns", "exec", this.#namespace, "ip", "link", "set", "lo", "up"]);
  }

  /** Below podman's defaults, which a root without CAP_SYS_RESOURCE may not set. */
  get #limits(): readonly string[] {
    return ["nofile=4096:4096", "nproc=4096:4096"];
  }

  /** @returns the program and the arguments that run a command of this machine in the network of the containers. */
  commandInNetwork(command: readonly string[]): readonly [string, string[]] {
    return ["nsenter", [`--net=/run/netns/${this.#namespace}`, ...command]];
  }

  /** @throws if the command fails, with what it printed. */
  async podman(...parameters: readonly string[]): Promise<string> {
    const [file, all] = this.commandInNetwork(["podman", ...parameters]);
    const { stdout } = await run(file, all, { env: this.#environment, maxBuffer: 2 ** 26 });
    return stdout;
  }

  /** For commands that may fail. */
  async try(...parameters: readonly string[]): Promise<Finished> {
    const [file, all] = this.commandInNetwork(["podman", ...parameters]);
    const done = run(file, all, { env: this.#environment, maxBuffer: 2 ** 26 });
    return await done.then(
      ({ stdout, stderr }) => ({ status: 0, output: stdout + stderr }),
      (error: { code?: unknown; stdout?: string; stderr?: string }) => ({
        status: typeof error.code === "number" ? error.code : -1,
        output: `${error.stdout ?? ""}${error.stderr ?? ""}`,
      }),
    );
  }

  /** Starts a container with the hardening of the guide. Its health check is run by `healthy`: there is no systemd for it. */
  async start(name: string, image: string, options: readonly string[], command: readonly string[] = []): Promise<void> {
    const limits = [...this.#limits, "core=0"].map((limit) => `--ulimit=${limit}`);
    const all = ["--name", name, "--no-healthcheck", ...hardening, ...limits, ...options, image, ...command];
    await this.podman("run", "--detach", ...all);
  }

  /** Runs a command of an image to its end, as `docker run --rm` does: podman waits 20 seconds longer where conmon is not reaped. */
  async run(image: string, command: readonly string[], options: readonly string[] = []): Promise<Finished> {
    const name = "command";
    await this.podman("run", "--detach", "--name", name, "--no-healthcheck", ...options, image, ...command);
    const finished = await this.ended(name);
    await this.remove([name]);
    return finished;
  }

  /** Waits for the end of a container. */
  async ended(name: string): Promise<Finished> {
    while (await this.#isRunning(name)) await this.#pause();
    return { status: await this.exitCode(name), output: await this.logs(name) };
  }

  /** Waits until the health check of the image passes. @throws with the log if the container ends before. */
  async healthy(name: string, check: readonly string[] = ["sealpush-health"]): Promise<void> {
    for (;;) {
      if ((await this.try("exec", name, ...check)).status === 0) return;
      if (!(await this.#isRunning(name))) throw new Error(`${name} has ended: ${await this.logs(name)}`);
      await this.#pause();
    }
  }

  /** Waits for a text in the log. @throws with the log if the container ends before. */
  async logged(name: string, text: string): Promise<string> {
    for (;;) {
      const isRunning = await this.#isRunning(name);
      const log = await this.logs(name);
      if (log.includes(text)) return log;
      if (!isRunning) throw new Error(`${name} ended without "${text}": ${log}`);
      await this.#pause();
    }
  }

  async #isRunning(name: string): Promise<boolean> {
    return /^(?:running|created|configured)/.test(await this.podman("inspect", name, "--format", "{{.State.Status}}"));
  }

  /** Between two looks at a container; what is waited for is an event of another program. */
  #pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, 300));
  }

  async logs(name: string): Promise<string> {
    return (await this.try("logs", name)).output;
  }

  async exitCode(name: string): Promise<number> {
    return Number(await this.podman("inspect", name, "--format", "{{.State.ExitCode}}"));
  }

  /** Removes containers with their anonymous volumes, and named volumes; those that do not exist as well. */
  async remove(containers: readonly string[], volumes: readonly string[] = []): Promise<void> {
    for (const name of containers) await this.try("rm", "--force", "--time", "45", "--volumes", name);
    for (const name of volumes) await this.try("volume", "rm", "--force", name);
  }

  /** Runs a program of this machine in the network of the containers. @returns what it printed */
  async inNetwork(file: string, parameters: readonly string[]): Promise<string> {
    const [command, all] = this.commandInNetwork([file, ...parameters]);
    return (await run(command, all, { maxBuffer: 2 ** 26 })).stdout;
  }

  /** Builds an image. `mounts` are for its RUN lines alone, and no part of it. */
  build(options: {
    readonly tag: string;
    readonly file: string;
    readonly context: string;
    readonly mounts?: readonly string[];
    readonly args?: readonly string[];
  }): void {
    const { tag, file, context, mounts = [], args = [] } = options;
    const parameters = [
      ...["bud", "--isolation", "oci", "--network", "host", "--runtime", "runc", "--layers", "--format", "docker"],
      ...mounts.flatMap((mount) => ["--volume", mount]),
      ...args.flatMap((arg) => ["--build-arg", arg]),
      ...["--tag", tag, "--file", file, context],
    ];
    this.buildah(...parameters);
  }

  /** The environment of buildah, and of scripts that call it: with the limits of containers.conf it would fail, as it raises them before it lowers them. */
  get buildEnvironment(): NodeJS.ProcessEnv {
    const { CONTAINERS_CONF: _, ...environment } = this.#environment;
    return environment;
  }

  buildah(...parameters: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync("buildah", parameters, {
      env: this.buildEnvironment,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`buildah ${parameters.join(" ")}\n${stdout}\n${stderr}`.slice(-4_000));
    return stdout.trim();
  }

  async close(): Promise<void> {
    await this.try("rm", "--all", "--force", "--time", "5", "--volumes");
    this.buildah("rm", "--all");
    await this.try("network", "prune", "--force");
    execFileSync("ip", ["netns", "delete", this.#namespace]);
    await this.try("system", "reset", "--force");
    // What remains mounted is the store itself.
    const mounts = readFileSync("/proc/mounts", "utf8").matchAll(/^\S+ (\S+) /gm);
    for (const [, path = ""] of [...mounts].toReversed()) {
      if (path.startsWith(`${this.folder}/`)) execFileSync("umount", ["--lazy", path]);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
