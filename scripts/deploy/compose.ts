import { BlockList } from "node:net";
import { parse } from "yaml";
import { pinnedPrograms } from "../../src/config/pinned-programs.ts";
import { drainSecondsMax, type Facts, type Image, settingProblems } from "./facts.ts";
import { at, entriesOf, listOf, type Tree, textOf } from "./tree.ts";

const settingPattern = /^(?:PWP|BACKUP_|DATABASE_URL|PORT$|HOST$|DATA_DIR$|OTEL_)/;

/** Variables of the shell at their defaults: these files use only the form `${NAME:-default}`. */
function atDefaults(text: string): string {
  return text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
}

/** The rules for each service of a compose file, and its agreement with the image. */
export function composeProblems(text: string, facts: Facts, image: Image): readonly string[] {
  const file: Tree = parse(atDefaults(text), { merge: true });
  return entriesOf(at(file, "services")).flatMap(([name, service]) =>
    [
      ...hardeningProblems(service),
      ...referenceProblems(file, service),
      ...addressProblems(file, service),
      ...(textOf(at(service, "image")).startsWith("sealpush:") ? serverProblems(file, service, facts, image) : []),
    ].map((problem) => `${name}: ${problem}`),
  );
}

function hardeningProblems(service: Tree): readonly string[] {
  const [name = "", tag = ""] = textOf(at(service, "image")).split(":");
  const pinned = new Map<string, { readonly version: string }>(Object.entries(pinnedPrograms)).get(name);
  return [
    ...(/^\d+\.\d+/.test(tag) ? [] : ["the image is not pinned to a version."]),
    ...(pinned === undefined || tag.split("-")[0] === pinned.version
      ? []
      : [`the image ${name}:${tag} is not version ${pinned.version}.`]),
    ...(at(service, "read_only") === true ? [] : ["the root file system is writable."]),
    ...(listOf(at(service, "cap_drop")).includes("ALL") ? [] : ["it keeps capabilities."]),
    ...(listOf(at(service, "security_opt")).includes("no-new-privileges:true") ? [] : ["it may gain privileges."]),
    ...(at(service, "restart") === "unless-stopped" ? [] : ["it is not restarted."]),
  ];
}

/** Names that must be defined elsewhere in the file. */
function referenceProblems(file: Tree, service: Tree): readonly string[] {
  const namesOf = (tree: Tree) =>
    Array.isArray(tree) ? tree.map((entry) => textOf(entry)) : entriesOf(tree).map(([name]) => name);
  const used = {
    services: namesOf(at(service, "depends_on")),
    networks: namesOf(at(service, "networks")),
    secrets: namesOf(at(service, "secrets")),
    volumes: listOf(at(service, "volumes"))
      .map((volume) => textOf(volume).split(":")[0] ?? "")
      .filter((source) => !source.startsWith(".")),
  };
  const missing = Object.entries(used).flatMap(([kind, names]) =>
    names.filter((name) => !namesOf(at(file, kind)).includes(name)).map((name) => `${name} is not among the ${kind}.`),
  );
  const notGiven = entriesOf(at(service, "environment"))
    .map(([, value]) => /^\/run\/secrets\/(.+)$/.exec(textOf(value))?.[1])
    .filter((secret) => secret !== undefined && !used.secrets.includes(secret))
    .map((secret) => `the secret ${secret} is named, but the service does not get it.`);
  return [...missing, ...notGiven];
}

/** Addresses are assigned at each start: a fixed one must be outside the range that is assigned dynamically. */
function addressProblems(file: Tree, service: Tree): readonly string[] {
  return entriesOf(at(service, "networks")).flatMap(([name, connection]) => {
    const address = textOf(at(connection, "ipv4_address"));
    if (address === "") return [];
    const [start = "", prefix = ""] = textOf(at(file, "networks", name, "ipam", "config", 0, "ip_range")).split("/");
    if (start === "") return [`the network ${name} may assign its address ${address} to another service.`];
    const others = new BlockList();
    others.addSubnet(start, Number(prefix));
    return others.check(address) ? [`its address ${address} is in the ip_range for other services.`] : [];
  });
}

function serverProblems(file: Tree, service: Tree, facts: Facts, image: Image): readonly string[] {
  const environment = entriesOf(at(service, "environment")).map(([name, value]) => [name, textOf(value)] as const);
  const graceSeconds = Number(environment.find(([name]) => name === "PWP__SHUTDOWN_GRACE_SECONDS")?.[1] ?? 0);
  const stopSeconds = Number.parseInt(textOf(at(service, "stop_grace_period")), 10);
  const ports = listOf(at(service, "ports")).map((port) => textOf(port).split(":").at(-1));
  const upstreams = textOf(at(file, "services", "caddy", "environment", "SEALPUSH_UPSTREAMS"))
    .split(/ +/)
    .filter(Boolean);
  const caddy = textOf(at(file, "services", "caddy", "networks", "front", "ipv4_address"));
  const trusted = environment.find(([name]) => name === "PWP__TRUSTED_PROXIES")?.[1] ?? "";
  return [
    ...environment.flatMap(([name, value]) => settingProblems(name, value)),
    ...(environment.every(([name]) => settingPattern.test(name)) ? [] : ["it has variables that are not settings."]),
    ...(textOf(at(service, "image")) === `sealpush:${facts.version}` ? [] : [`its image is not of ${facts.version}.`]),
    ...(stopSeconds > drainSecondsMax + graceSeconds ? [] : ["it is killed before it has stopped."]),
    ...(listOf(at(service, "volumes")).some((volume) => textOf(volume).endsWith(`:${image.dataDir}`))
      ? []
      : [`${image.dataDir} is not a volume.`]),
    ...(listOf(at(service, "tmpfs")).includes("/tmp") ? [] : ["/tmp is not writable."]),
    ...[...ports, ...upstreams.map((upstream) => upstream.split(":")[1])]
      .filter((port) => port !== image.port)
      .map((port) => `${port} is not the port of the image.`),
    ...(caddy === "" || trusted.split(/,\s*/).includes(caddy) ? [] : ["it does not trust Caddy."]),
  ];
}
