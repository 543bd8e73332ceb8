import { type SettingOrigin, settingTable } from "../../config/config.ts";
import type { Setting } from "../../config/setting.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { Filters, listPath } from "../lists/filters.tsx";
import { type Column, List, NoneFound } from "../lists/list.tsx";
import { type Page, type PageContext, pageHref, useMessages, usePage } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths } from "./frame.tsx";

const textMax = 100;
/** A search that finds no more than this opens the explanations too. */
const explainedMax = 3;
const groupNames = Object.keys(settingTable) as (keyof typeof settingTable)[];
const origins = ["environment", "settings file", "default"] as const;

/** The pages that change what a setting decides without a restart: the address by the setting's name. */
const changedOn: ReadonlyMap<string, string> = new Map([
  [settingTable.accounts.settings.signupsDisabled.env, adminPaths.overview],
  ...pagesOf(adminPaths.rules, Object.values(settingTable.policies.settings)),
  ...pagesOf(adminPaths.theme, themeSettings(settingTable.branding.settings)),
]);

function pagesOf(path: string, settings: readonly { readonly env: string }[]) {
  return settings.map(({ env }) => [env, path] as const);
}

function themeSettings({ brandTitle, lightLogo, darkLogo }: typeof settingTable.branding.settings) {
  return [brandTitle, lightLogo, darkLogo];
}

interface SettingsModel {
  /** Part of a name, a meaning, a shown value or the title of a group; "": all. */
  readonly text: string;
  /** null: any. */
  readonly from: SettingOrigin["from"] | null;
  /** Secrets are masked already. */
  readonly settings: readonly SettingOrigin[];
}

/** `GET /admin/settings` */
export function showSettings(page: SignedInRequest): Reply {
  const text = (page.query("q") ?? "").trim().slice(0, textMax);
  const from = origins.find((origin) => origin === page.query("from")) ?? null;
  const model = { text, from, settings: page.services.config.origins };
  return page.render(settingsView, model, { selfPath: listPath(adminPaths.settings, { q: text, from }) });
}

interface ShownSetting {
  readonly row: Setting<unknown>;
  readonly origin: SettingOrigin;
  /** The search found little, or something in the text that explains the setting. */
  readonly isExplained: boolean;
}

/** The groups of the settings table that have a setting which matches. Their titles in the documentation match too. */
function matchingGroups({ text, from, settings }: SettingsModel, { settingGroups }: Messages["admin"]) {
  const byName = new Map(settings.map((origin) => [origin.name, origin]));
  const part = text.toLowerCase();
  const groups = groupNames.map((name) => ({
    title: settingGroups[name],
    rows: Object.values<Setting<unknown>>(settingTable[name].settings).flatMap((row): readonly ShownSetting[] => {
      const origin = byName.get(row.env);
      if (origin === undefined || (from !== null && origin.from !== from)) return [];
      const names = [row.env, origin.shown, settingGroups[name], settingTable[name].title];
      const isNamed = names.join("\n").toLowerCase().includes(part);
      const isExplained = part !== "" && (row.env === text || row.doc.toLowerCase().includes(part));
      return isNamed || isExplained ? [{ row, origin, isExplained }] : [];
    }),
  }));
  const isFew = part !== "" && groups.flatMap(({ rows }) => rows).length <= explainedMax;
  const explained = (rows: readonly ShownSetting[]) =>
    isFew ? rows.map((row) => ({ ...row, isExplained: true })) : rows;
  return groups.filter(({ rows }) => rows.length > 0).map(({ title, rows }) => ({ title, rows: explained(rows) }));
}

export function settingsView(model: SettingsModel, page: PageContext): Page {
  const { admin } = page.messages;
  const groups = matchingGroups(model, admin);
  const isSearch = model.text !== "" || model.from !== null;
  const setHere = isSearch ? [] : groups.flatMap(({ rows }) => rows.filter(isSet));
  return (
    <AdminFrame page={page} current="settings" lead={admin.settingsLead}>
      <Filters
        path={adminPaths.settings}
        submit={admin.search}
        filters={[
          { name: "q", label: admin.searchSettings, value: model.text, maxLength: textMax },
          {
            name: "from",
            label: admin.from,
            value: model.from ?? "",
            options: [
              { value: "", label: admin.anySource },
              ...origins.map((origin) => ({ value: origin, label: originNames(page.messages)[origin] })),
            ],
          },
        ]}
      />
      {setHere.length > 0 && (
        <section class="card">
          <h2 id="set_here">{admin.settingsSet}</h2>
          <SettingList headingId="set_here" rows={setHere} />
        </section>
      )}
      {groups.length === 0 ? (
        <NoneFound text={admin.noSettings} path={adminPaths.settings} />
      ) : (
        <section class="card">
          <h2 id="settings">{isSearch ? admin.settingsFound : admin.settingsAll}</h2>
          <div class="admin-groups">
            {groups.map(({ title, rows }, index) => (
              <Group key={title} index={index} title={title} rows={rows} isOpen={isSearch} />
            ))}
          </div>
        </section>
      )}
    </AdminFrame>
  );
}

function isSet({ origin }: ShownSetting): boolean {
  return origin.from !== "default";
}

interface GroupProps {
  readonly index: number;
  readonly rows: readonly ShownSetting[];
  readonly title: string;
  readonly isOpen: boolean;
}

function Group({ index, rows, title, isOpen }: GroupProps) {
  const { formats } = useMessages();
  return (
    <details class="disclosure" open={isOpen}>
      <summary class="line admin-group-title">
        <h3 id={`group_${index}`}>{title}</h3>
        <span class="field-hint">{formats.number(rows.length)}</span>
      </summary>
      <SettingList headingId={`group_${index}`} rows={rows} />
    </details>
  );
}

interface SettingListProps extends Pick<GroupProps, "rows"> {
  readonly headingId: string;
}

function SettingList({ headingId, rows }: SettingListProps) {
  const page = usePage();
  return (
    <List caption={{ headingId }} rows={rows} class="settings-table" columns={settingColumns(page)} empty={null} />
  );
}

/** Meanings, allowed values and defaults are those of the documentation, which is in English. */
function settingColumns(page: PageContext): readonly Column<ShownSetting>[] {
  const { admin } = page.messages;
  return [
    {
      label: admin.setting,
      value: ({ row, isExplained }) => (
        <details class="admin-setting disclosure" open={isExplained}>
          <summary>
            <code dir="ltr">{row.env}</code>
          </summary>
          <p lang="en" dir="ltr">
            <WithCode text={row.doc} />
          </p>
          <dl class="facts facts-rows">
            <EnglishFact label={admin.allowed} text={row.allowed} />
            <EnglishFact label={admin.fromDefault} text={row.defaultShown} />
          </dl>
        </details>
      ),
    },
    {
      label: admin.value,
      value: ({ row, origin }) => (
        <>
          <code dir="ltr">{origin.shown.replaceAll("`", "")}</code>
          <ChangeLink env={row.env} />
        </>
      ),
    },
    {
      label: admin.from,
      narrow: "unlabelled",
      value: ({ origin: { from } }) => (
        <span class={from === "default" ? "field-hint wide-only" : "badge badge-active"}>
          {originNames(page.messages)[from]}
        </span>
      ),
    },
  ];
}

/** Only where a page changes the setting. */
function ChangeLink({ env }: { readonly env: string }) {
  const page = usePage();
  const { admin } = page.messages;
  const path = changedOn.get(env);
  if (path === undefined) return null;
  return (
    <>
      {" "}
      <a href={pageHref(page, path)} aria-label={admin.actionOn({ action: admin.changeHere, name: env })}>
        {admin.changeHere}
      </a>
    </>
  );
}

function EnglishFact({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <Fact
      label={label}
      value={
        <span lang="en" dir="ltr">
          <WithCode text={text} />
        </span>
      }
    />
  );
}

/** The only Markdown in the texts of settings is code between backticks. */
function WithCode({ text }: { readonly text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

function originNames({ admin }: Messages): Readonly<Record<SettingOrigin["from"], string>> {
  return {
    environment: admin.fromEnvironment,
    "settings file": admin.fromSettingsFile,
    default: admin.fromDefault,
  };
}
