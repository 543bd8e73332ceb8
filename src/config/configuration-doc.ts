import { settingTable } from "./config.ts";
import { unusedSettings } from "./password-pusher-settings.ts";
import { fileNameOf, settingsByFile } from "./secret-files.ts";
import { allSettings, type Setting } from "./setting.ts";
import { defaultSettingsFile, settingsFileName } from "./settings-file.ts";

const preamble = `# Configuration

This file is generated from the settings table (\`src/config/topics/\`) by \`npm run -s docs\`.

Settings are environment variables. None is required: the server starts without any. All mistakes are reported at once,
before anything is opened; \`npm run -s sealpush -- config check\` does the same without starting. An empty value counts as
not set, except for switches: they accept only \`true\` and \`false\` in lower case, because Password Pusher reads most other
spellings, and an empty value, as true. One pair of quotes around a value is removed. A name that begins with \`PWP__\` or \`PWPUSH_\` and is not
listed here has no effect; the server logs a warning about it at the start.
[Settings of Password Pusher that are not used](#settings-of-password-pusher-that-are-not-used-here) are listed at the end.

A \`settings.yml\` of Password Pusher provides the settings that the environment does not have: \`mail:\` \`smtp_port:\` is
\`PWP__MAIL__SMTP_PORT\`. \`${settingsFileName}\` names it; by default it is \`${defaultSettingsFile}\`, if that file
is there. \`settings/production.yml\` and \`settings.local.yml\` beside it are read after it. Ruby code in these files is
refused. \`config check\` shows what comes from them, and \`config convert FILE\` prints one as an environment file.

Sizes: kB, MB, GB and TB are powers of 1000; KiB, MiB, GiB and TiB are powers of 1024.

A file can provide a value that may be secret or long, for containers and service managers: add \`_FILE\` to the name of the
variable, and set it to the path of the file. This works for
${settingsByFile(allSettings(settingTable)).map(byFile).join(",\n")}.`;

const unusedIntro = `An env file of Password Pusher can be used as it is. Settings that Password Pusher documents and that are not in the
tables above have no effect here. The server names those that are set when it starts, and
\`npm run -s sealpush -- config check --env-file FILE\` lists them all. A name that ends in \`*\` covers all names that start with it.`;

/** docs/configuration.md, in Markdown. */
export function configurationDoc(): string {
  const sections = Object.values(settingTable).flatMap(({ title, intro, settings }) => {
    const rows = Object.values(settings).map(
      (row) => `| \`${row.env}\` | ${cell(row.doc)} | ${cell(row.allowed)} | ${cell(row.defaultShown)} |`,
    );
    const table = ["| Name | Meaning | Allowed | Default |", "|---|---|---|---|", ...rows].join("\n");
    return [`## ${title}`, ...(intro === "" ? [] : [intro]), table];
  });
  return `${[preamble, ...sections, ...unusedPart()].join("\n\n")}\n`;
}

/** The reasons, in the order of the table, with their names. */
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
