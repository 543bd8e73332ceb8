import { drainSecondsMax, type Facts, type Image, settingProblems } from "./facts.ts";

/** The rules for the unit that Podman makes a service of, and its agreement with the image. */
export function quadletProblems(text: string, { version }: Facts, image: Image): readonly string[] {
  const lines = text.split("\n").filter((line) => /^\w+=/.test(line));
  const stopSeconds = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
  return [
    ...[
      `Image=localhost/sealpush:${version}`,
      `PublishPort=127.0.0.1:${image.port}:${image.port}`,
      `Volume=sealpush-data:${image.dataDir}`,
      "Tmpfs=/tmp",
      "ReadOnly=true",
      "DropCapability=ALL",
      "NoNewPrivileges=true",
      "Restart=always",
      "RestartPreventExitStatus=2",
    ]
      .filter((line) => !lines.includes(line))
      .map((line) => `${line} is missing.`),
    ...["--memory-swap=512m", "--memory=512m", "--ulimit=core=0"]
      .filter((option) => !lines.some((line) => line.startsWith("PodmanArgs=") && line.includes(option)))
      .map((option) => `${option} is missing.`),
    ...[/^TimeoutStopSec=(\d+)$/m, /--stop-timeout=(\d+)/]
      .filter((pattern) => stopSeconds(pattern) <= drainSecondsMax)
      .map((pattern) => `${pattern.source} kills the server before it has stopped.`),
    // Also in the comments, which are there to be used.
    ...[...text.matchAll(/Environment=(PWP\w+)=([^\s]+)/g)].flatMap(([, name = "", value]) =>
      settingProblems(name, value),
    ),
  ];
}
