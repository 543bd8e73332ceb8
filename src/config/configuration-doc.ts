import { unusedSettings } from "./password-pusher-settings.ts";
import { allSettings } from "./read-settings.ts";
import { fileNameOf, settingsByFile } from "./secret-files.ts";
import type { Setting } from "./setting.ts";
import { settingGroups } from "./settings.ts";

const preamble = `# Configuration

This file is made from the settings table (\`src/config/settings.ts\`) by \`npm run -s docs\`.

Settings are environment variables. None is required: the server starts without any. All mistakes are reported at once,
before anything is opened; \`npm run -s sealpush -- config check\` does the same without starting. An empty value counts as
not given, and one pair of quotes around a value is dropped. A name that begins with \`PWP__\` or \`PWPUSH_\` and is not
listed here has no effect; the server warns of it at the start.
[What is not used](#settings-of-password-pusher-that-are-not-used-here) stands at the end.

Sizes: kB, MB, GB and TB are powers of 1000; KiB, MiB, GiB and TiB are powers of 1024.

What may be a secret can stand in a file instead, for containers and service managers: the variable with \`_FILE\` at its
end names the file. That is so for
${settingsByFile(allSettings(settingGroups)).map(byFile).join(",\n")}.`;

const unusedIntro = `An env file of Password Pusher can be used as it is. What it documents and is not in the tables above has no effect
here; the server names each such setting that is given at its start, and
\`npm run -s sealpush -- config check --env-file FILE\` names them all. A name that ends in \`*\` stands for all that begin so.`;

/** docs/configuration.md, in Markdown. */
export function configurationDoc(): string {
  const sections = Object.values(settingGroups).flatMap(({ title, intro, settings }) => {
    const rows = Object.values(settings).map(
      (row) => `| \`${row.env}\` | ${cell(row.doc)} | ${cell(row.allowed)} | ${cell(row.defaultShown)} |`,
    );
    const table = ["| Name | Meaning | Allowed | Default |", "|---|---|---|---|", ...rows].join("\n");
    return [`## ${title}`, ...(intro === "" ? [] : [intro]), table];
  });
  return `${[preamble, ...sections, ...unusedPart()].join("\n\n")}\n`;
}

/** Reasons in the order of the table, each with its names. */
function unusedPart(): readonly string[] {
  const namesByReason = Map.groupBy(unusedSettings, ({ because }) => because);
  const rows = [...namesByReason].map(
    ([because, settings]) => `| ${settings.map(({ name }) => `\`${name}\``).join(", ")} | ${cell(because)} |`,
  );
  return [
    "## Settings of Password Pusher that are not used here",
    unusedIntro,
    ["| Names | Not used here, because |", "|---|---|", ...rows].join("\n"),
  ];
}

function byFile(row: Setting<unknown>): string {
  return `\`${fileNameOf(row)}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
