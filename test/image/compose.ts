import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { at, entriesOf, listOf, type Tree, textOf } from "../../scripts/deploy/tree.ts";
import type { ImageLab } from "./lab.ts";

/** The parts of a compose file that are used here; Docker's own program needs an engine. */
export class ComposeProject {
  readonly #lab: ImageLab;
  readonly #folder: string;
  readonly #name: string;
  readonly #tree: Tree;
  readonly #settings: Readonly<Record<string, string>>;

  /** @param settings are added to those of the server; variables of the shell are at their defaults. */
  constructor(lab: ImageLab, file: string, settings: Readonly<Record<string, string>>) {
    const text = readFileSync(file, "utf8").replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
    this.#lab = lab;
    this.#folder = dirname(file);
    this.#settings = settings;
    this.#tree = parse(text, { merge: true });
    this.#name = textOf(at(this.#tree, "name"));
  }

  container(service: string): string {
    return `${this.#name}-${service}`;
  }

  /** Starts services in the order of what they depend on, each once those are healthy. */
  async up(): Promise<void> {
    for (const [name, network] of entriesOf(at(this.#tree, "networks"))) await this.#makeNetwork(name, network);
    const waiting = new Map(this.#services());
    const healthy = new Set<string>();
    while (waiting.size > 0) {
      for (const [name, service] of waiting) {
        const needs = entriesOf(at(service, "depends_on")).map(([needed]) => needed);
        if (needs.some((needed) => waiting.has(needed))) continue;
        for (const needed of needs.filter((one) => !healthy.has(one))) {
          await this.healthy(needed);
          healthy.add(needed);
        }
        await this.#start(name, service);
        waiting.delete(name);
      }
    }
  }

  /** As `up --no-deps --wait SERVICE` with a newer image: stops, removes, starts, waits. */
  async replace(name: string): Promise<void> {
    const service = at(this.#tree, "services", name);
    await this.#lab.podman("stop", this.container(name));
    await this.#lab.podman("rm", this.container(name));
    await this.#start(name, service);
    await this.healthy(name);
  }

  /** Runs a service of a profile to its end, with another command than the one of the file. @returns what it printed */
  async runOnce(name: string, command: readonly string[]): Promise<string> {
    await this.#start(name, at(this.#tree, "services", name), command);
    const { status, output } = await this.#lab.ended(this.container(name));
    await this.#lab.remove([this.container(name)]);
    if (status !== 0) throw new Error(`${name} has failed: ${output}`);
    return output;
  }

  async down(): Promise<void> {
    await this.#lab.remove(
      this.#services()
        .map(([name]) => this.container(name))
        .toReversed(),
      entriesOf(at(this.#tree, "volumes")).map(([name]) => this.container(name)),
    );
    for (const [name] of entriesOf(at(this.#tree, "networks"))) {
      await this.#lab.try("network", "rm", "--force", this.container(name));
    }
  }

  async healthy(name: string): Promise<void> {
    const check = listOf(at(this.#tree, "services", name, "healthcheck", "test")).map((word) => textOf(word));
    await this.#lab.healthy(this.container(name), check.length === 0 ? ["sealpush-health"] : check.slice(1));
  }

  /** Services with a profile are not started. */
  #services(): readonly (readonly [string, Tree])[] {
    return entriesOf(at(this.#tree, "services")).filter(([, service]) => at(service, "profiles") === undefined);
  }

  async #makeNetwork(name: string, network: Tree): Promise<void> {
    const config = at(network, "ipam", "config", 0);
    const options = [
      ["subnet", "--subnet"],
      ["gateway", "--gateway"],
      ["ip_range", "--ip-range"],
    ].flatMap(([key = "", option = ""]) => (textOf(at(config, key)) === "" ? [] : [option, textOf(at(config, key))]));
    const internal = at(network, "internal") === true ? ["--internal"] : [];
    await this.#lab.podman("network", "create", ...options, ...internal, this.container(name));
  }

  async #start(name: string, service: Tree, command?: readonly string[]): Promise<void> {
    const texts = (key: string) => listOf(at(service, key)).map((value) => textOf(value));
    const networks = at(service, "networks") ?? {};
    const names = Array.isArray(networks)
      ? networks.map((one) => textOf(one))
      : entriesOf(networks).map(([one]) => one);
    const options = [
      ...names.map((network) => {
        const address = Array.isArray(networks) ? "" : textOf(at(networks, network, "ipv4_address"));
        return `--network=${this.container(network)}:alias=${name}${address === "" ? "" : `,ip=${address}`}`;
      }),
      ...entriesOf(at(service, "environment")).map(([key, value]) => `--env=${key}=${textOf(value)}`),
      ...Object.entries(this.#settings).map(([key, value]) => `--env=${key}=${value}`),
      ...texts("ports").map((port) => `--publish=${port}`),
      ...texts("volumes").map((volume) => {
        const [source = "", ...rest] = volume.split(":");
        const path = source.startsWith(".") ? resolve(this.#folder, source) : this.container(source);
        return `--volume=${[path, ...rest].join(":")}`;
      }),
      ...texts("secrets").map((secret) => {
        const file = resolve(this.#folder, textOf(at(this.#tree, "secrets", secret, "file")));
        return `--volume=${file}:/run/secrets/${secret}:ro`;
      }),
      // Podman 4.3 knows no uid and gid here; everybody may write instead.
      ...texts("tmpfs")
        .filter((mount) => mount !== "/tmp")
        .map((mount) => `--tmpfs=${mount.split(":")[0]}:mode=1777`),
      ...texts("cap_add").map((capability) => `--cap-add=${capability}`),
      ...[
        ["mem_limit", "--memory"],
        ["memswap_limit", "--memory-swap"],
        ["shm_size", "--shm-size"],
        ["user", "--user"],
      ]
        .filter(([key = ""]) => textOf(at(service, key)) !== "")
        .map(([key = "", option]) => `${option}=${textOf(at(service, key))}`),
      `--stop-timeout=${Number.parseInt(textOf(at(service, "stop_grace_period")) || "10", 10)}`,
    ];
    const [entrypoint, ...rest] = texts("entrypoint");
    await this.#lab.start(
      this.container(name),
      textOf(at(service, "image")),
      [...options, ...(entrypoint === undefined ? [] : [`--entrypoint=${entrypoint}`])],
      command ?? rest,
    );
  }
}
