import { drainSecondsMax, settingProblems } from "./facts.ts";

/** Lines of the unit that determine the user, the data and the secrets of a command. */
const sharedKeys = new Set([
  "EnvironmentFile",
  "LoadCredential",
  "Environment",
  "DynamicUser",
  "User",
  "StateDirectory",
  "StateDirectoryMode",
  "UMask",
]);

/** Lines that only the server's unit has. All others restrict the process, and apply to the backup as well. */
const ownKeys = new Set([
  "Type",
  "WorkingDirectory",
  "ExecStart",
  "Restart",
  "RestartPreventExitStatus",
  "RestartSec",
  "TimeoutStopSec",
  "KillMode",
  "Description",
  "Documentation",
  "After",
  "Wants",
  "WantedBy",
]);

const linesOf = (unit: string) => unit.split("\n").filter((line) => /^\w+=/.test(line));
const keyOf = (line: string) => line.split("=")[0] ?? "";

/** @returns the differences in user, data, secrets and confinement between the server and its backup. */
export function backupUnitProblems(backup: string, unit: string): readonly string[] {
  const given = linesOf(backup);
  return linesOf(unit)
    .filter((line) => !ownKeys.has(keyOf(line)))
    .map((line) => line.replace(/^StateDirectory=sealpush$/, "$& sealpush-backup"))
    .filter((line) => !given.includes(line))
    .map((line) => `${line} does not apply to the backup.`)
    .concat(debuggerProblems(backup));
}

/** @returns the differences between the unit of one process and that of several, which gets its port from its name. */
export function templateUnitProblems(template: string, unit: string): readonly string[] {
  const own = (line: string) => line.startsWith("Description=") || line === "Environment=PORT=%i";
  const [given, wanted] = [template, unit].map((text) => linesOf(text).filter((line) => !own(line)));
  return [
    ...(JSON.stringify(given) === JSON.stringify(wanted) ? [] : ["It has other lines than sealpush.service."]),
    ...(linesOf(template).includes("Environment=PORT=%i") ? [] : ["All processes would have the same port."]),
  ];
}

/** Threat: SIGUSR1 opens Node's debugger, which reads all memory. */
function debuggerProblems(text: string): readonly string[] {
  return /node\/bin\/node --disable-sigusr1 -- dist/.test(text) ? [] : ["SIGUSR1 opens the debugger."];
}

/** @param command the script that runs a command in the same way as the unit runs the server. */
export function unitProblems(unit: string, command: string): readonly string[] {
  const lines = linesOf(unit);
  const get = (key: string) => lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);
  // systemd-run replaces no specifiers: a command gets the value of %d in the unit from its environment.
  const ofUnitOnly = lines.filter((line) => /^Environment=\w+=%d\//.test(line));
  const inCommand = (line: string) => line.replace("Environment=", "").replace("%d/", "$CREDENTIALS_DIRECTORY/");
  const properties = [...command.matchAll(/--property=(\S+)/g)].map(([, property = ""]) => property);
  const settings = lines.flatMap((line) => {
    const [, name = "", value = ""] = /^Environment=(\w+)=(.*)$/.exec(line) ?? [];
    return name === "" ? [] : settingProblems(name, value);
  });
  const program = get("ExecStart")?.replace(/ serve$/, "") ?? "none";
  return [
    ...settings,
    ...debuggerProblems(unit),
    ...lines
      .filter((line) => sharedKeys.has(keyOf(line)))
      .filter(
        (line) =>
          !(ofUnitOnly.includes(line) ? command.includes(` -c '${inCommand(line)} `) : properties.includes(line)),
      )
      .map((line) => `${line} does not apply to commands of the operator.`),
    ...properties
      .filter((property) => !lines.includes(property))
      .map((property) => `${property} applies to commands of the operator only.`),
    ...properties
      .filter((property) => property.includes("%"))
      .map((property) => `${property} has a specifier, which systemd-run does not replace.`),
    ...(command.includes(`${program} "$@"`) ? [] : ["Commands of the operator run another program."]),
    ...(command.includes(`--working-directory=${get("WorkingDirectory")} `)
      ? []
      : ["Commands of the operator have another working directory."]),
    ...(Number.parseInt(get("TimeoutStopSec") ?? "", 10) > drainSecondsMax
      ? []
      : ["TimeoutStopSec kills the server before it has stopped."]),
    ...[
      "Restart=always",
      "RestartPreventExitStatus=2",
      "NoNewPrivileges=yes",
      "ProtectSystem=strict",
      "DynamicUser=yes",
      "LimitCORE=0",
      "MemorySwapMax=0",
    ]
      .filter((line) => !lines.includes(line))
      .map((line) => `${line} is missing.`),
  ];
}
