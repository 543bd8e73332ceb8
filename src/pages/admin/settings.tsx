import type { FastifyReply } from "fastify";
import { type SettingOrigin, settingTable } from "../../config/config.ts";
import type { Setting } from "../../config/setting.ts";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { SearchBox, SearchChoice, SearchForm } from "../parts/search-form.tsx";
import type { SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths } from "./frame.tsx";

const textMax = 100;
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
export function showSettings(page: SignedInRequest): FastifyReply {
  const text = (page.query("q") ?? "").trim().slice(0, textMax);
  const from = origins.find((origin) => origin === page.query("from")) ?? null;
  const model = { text, from, settings: page.services.config.origins };
  return page.render(settingsView, model, { selfPath: settingsPath(model) });
}

function settingsPath({ text, from }: Pick<SettingsModel, "text" | "from">): string {
  const query = new URLSearchParams();
  if (text !== "") query.set("q", text);
  if (from !== null) query.set("from", from);
  const written = query.toString();
  return written === "" ? adminPaths.settings : `${adminPaths.settings}?${written}`;
}

interface ShownSetting {
  readonly row: Setting<unknown>;
  readonly origin: SettingOrigin;
}

/** The groups of the settings table that have a setting which matches. */
function matchingGroups({ text, from, settings }: SettingsModel) {
  const byName = new Map(settings.map((origin) => [origin.name, origin]));
  const part = text.toLowerCase();
  const groups = Object.values(settingTable).map(({ title, settings: rows }) => ({
    title,
    rows: Object.values<Setting<unknown>>(rows).flatMap((row): readonly ShownSetting[] => {
      const origin = byName.get(row.env);
      if (origin === undefined || (from !== null && origin.from !== from)) return [];
      const searched = [row.env, row.doc, origin.shown, title].join("\n").toLowerCase();
      return searched.includes(part) ? [{ row, origin }] : [];
    }),
  }));
  return groups.filter(({ rows }) => rows.length > 0);
}

export function settingsView(model: SettingsModel, page: PageContext): Page {
  const { admin } = page.messages;
  const groups = matchingGroups(model);
  const isSearch = model.text !== "" || model.from !== null;
  return (
    <AdminFrame page={page} current="settings" lead={admin.settingsLead}>
      <SearchForm page={page} action={adminPaths.settings} submit={admin.search} wraps>
        <SearchBox name="q" label={admin.searchSettings} value={model.text} maxLength={textMax} />
        <SearchChoice
          name="from"
          label={admin.from}
          value={model.from ?? ""}
          options={[
            { value: "", label: admin.anySource },
            ...origins.map((origin) => ({ value: origin, label: originName(origin, page) })),
          ]}
        />
      </SearchForm>
      {groups.length === 0 ? (
        <p>{admin.noSettings}</p>
      ) : (
        <div class="card admin-groups">
          {groups.map(({ title, rows }) => (
            <Group key={title} title={title} rows={rows} isOpen={isSearch} page={page} />
          ))}
        </div>
      )}
    </AdminFrame>
  );
}

interface GroupProps {
  readonly title: string;
  readonly rows: readonly ShownSetting[];
  readonly isOpen: boolean;
  readonly page: PageContext;
}

/** Titles and meanings are those of the documentation, which is in English. */
function Group({ title, rows, isOpen, page }: GroupProps) {
  const { admin } = page.messages;
  const setCount = rows.filter(({ origin }) => origin.from !== "default").length;
  return (
    <details open={isOpen || setCount > 0}>
      <summary class="admin-group-title">
        <h2 class="section-heading" lang="en" dir="ltr">
          {title}
        </h2>
        <span class="field-hint">{admin.settingCounts({ count: rows.length, set: setCount })}</span>
      </summary>
      <table class="data-table settings-table">
        <thead>
          <tr>
            <th scope="col">{admin.setting}</th>
            <th scope="col">{admin.value}</th>
            <th scope="col">{admin.from}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, origin }) => (
            <SettingRow key={row.env} row={row} origin={origin} isOpen={isOpen} page={page} />
          ))}
        </tbody>
      </table>
    </details>
  );
}

interface SettingRowProps extends ShownSetting {
  /** Shows the texts, where a search may have found something. */
  readonly isOpen: boolean;
  readonly page: PageContext;
}

function SettingRow({ row, origin, isOpen, page }: SettingRowProps) {
  const { admin } = page.messages;
  const changePath = changedOn.get(row.env);
  return (
    <tr>
      <th scope="row">
        <details class="admin-setting" open={isOpen}>
          <summary>
            <code dir="ltr">{row.env}</code>
          </summary>
          <p lang="en" dir="ltr">
            <WithCode text={row.doc} />
          </p>
          <dl>
            <EnglishFact label={admin.allowed} text={row.allowed} />
            <EnglishFact label={admin.fromDefault} text={row.defaultShown} />
          </dl>
        </details>
      </th>
      <td data-label={admin.value}>
        <code dir="ltr">{origin.shown}</code>
      </td>
      {origin.from === "default" ? (
        <td class="wide-only muted">{admin.fromDefault}</td>
      ) : (
        <td>
          <span class="badge badge-active">{originName(origin.from, page)}</span>
        </td>
      )}
      <td>
        {changePath !== undefined && (
          <a href={pageHref(page, changePath)} aria-label={admin.actionOn({ action: admin.changeHere, name: row.env })}>
            {admin.changeHere}
          </a>
        )}
      </td>
    </tr>
  );
}

function EnglishFact({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <Fact label={label}>
      <span lang="en" dir="ltr">
        <WithCode text={text} />
      </span>
    </Fact>
  );
}

/** The only Markdown in the texts of settings is code between backticks. */
function WithCode({ text }: { readonly text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

function originName(from: SettingOrigin["from"], { messages: { admin } }: PageContext): string {
  switch (from) {
    case "environment":
      return admin.fromEnvironment;
    case "settings file":
      return admin.fromSettingsFile;
    case "default":
      return admin.fromDefault;
  }
}
