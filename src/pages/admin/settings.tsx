import type { FastifyReply } from "fastify";
import type { SettingOrigin } from "../../config/config.ts";
import type { Page, PageContext } from "../page.ts";
import type { SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths } from "./frame.tsx";

/** `GET /admin/settings` */
export function showSettings(page: SignedInRequest): FastifyReply {
  return page.render(settingsView, page.services.config.origins, { selfPath: adminPaths.settings });
}

/** Secrets are masked already. The settings that the operator has set come first. */
export function settingsView(settings: readonly SettingOrigin[], page: PageContext): Page {
  const { admin } = page.messages;
  return (
    <AdminFrame page={page} current="settings" lead={admin.settingsLead}>
      <table class="card admin-settings">
        <thead>
          <tr>
            <th scope="col">{admin.setting}</th>
            <th scope="col">{admin.value}</th>
            <th scope="col">{admin.from}</th>
          </tr>
        </thead>
        <tbody>
          {changedFirst(settings).map(({ name, from, shown }) => (
            <tr key={name}>
              <th scope="row">
                <code dir="ltr">{name}</code>
              </th>
              <td data-label={admin.value}>
                <code dir="ltr">{shown}</code>
              </td>
              <td data-label={admin.from}>
                {from !== "default" ? (
                  <span class="badge badge-active">
                    {from === "environment" ? admin.fromEnvironment : admin.fromSettingsFile}
                  </span>
                ) : (
                  <span class="badge">{admin.fromDefault}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </AdminFrame>
  );
}

function changedFirst(settings: readonly SettingOrigin[]): readonly SettingOrigin[] {
  const rank = ({ from }: SettingOrigin) => (from === "default" ? 1 : 0);
  return settings.toSorted((a, b) => rank(a) - rank(b));
}
