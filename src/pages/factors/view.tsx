import { Layout } from "../layout.tsx";
import { type Page, type PageContext, type PartProps, pageHref, useMessages } from "../page.ts";
import { ButtonLink } from "../parts/buttons.tsx";
import { Card, PageHeading } from "../parts/card.tsx";
import { Fact } from "../parts/fact.tsx";
import { Notice } from "../parts/notice.tsx";
import { LocalTime } from "../parts/times.tsx";
import { withNext } from "../return-path.ts";
import { type FactorsModel, hasFactor } from "./model.ts";
import { PasskeySection } from "./passkey-section.tsx";
import { appPath, backupCodesPath, removeAppPath } from "./paths.ts";
import { ProvenChange } from "./proof.tsx";

/** The second factors of the account, and every way to change them. */
export function factorsView(model: FactorsModel, page: PageContext): Page {
  const { codes, manage } = page.messages.factors;
  const { backupCodesLeft: count } = model;
  const badge = <span class={count > 0 ? "badge badge-active" : "badge"}>{codes.left({ count })}</span>;
  return (
    <Layout page={page} title={manage.heading} width="regular" scripts={["passkeys.js"]}>
      <PageHeading heading={manage.heading} lead={manage.lead} />
      {model.required && <Notice tone="warning" icon="shield" text={manage.required} />}
      {hasFactor(model) && model.backupCodesLeft === 0 && (
        <Notice tone="warning" icon="shield">
          <p>{codes.missing}</p>
          <p>
            <a href="#codes">{codes.make}</a>
          </p>
          {model.next !== null && (
            <p>
              <a href={pageHref(page, model.next)}>{codes.later}</a>
            </p>
          )}
        </Notice>
      )}
      <div class="cards">
        <AppSection model={model} />
        <PasskeySection model={model} />
        {hasFactor(model) && (
          <Card id="codes" heading={codes.heading} badge={badge}>
            <p>{codes.text}</p>
            <div class="page-actions">
              <ProvenChange
                model={model}
                form="backup_codes"
                label={codes.make}
                explanation={codes.makeText}
                confirm={codes.makeConfirm}
                action={withNext(backupCodesPath, model.next)}
              />
            </div>
          </Card>
        )}
      </div>
      <p class="field-hint">{manage.othersEnd}</p>
    </Layout>
  );
}

type SectionProps = PartProps<FactorsModel>;

function AppSection({ model }: SectionProps) {
  const { app, manage } = useMessages().factors;
  const isOn = model.appAddedAt !== null;
  const badge = <span class={isOn ? "badge badge-active" : "badge"}>{isOn ? manage.on : manage.off}</span>;
  return (
    <Card id="app" heading={app.heading} badge={badge}>
      <p>{app.text}</p>
      {model.appAddedAt !== null && (
        <dl class="facts">
          <Fact label={manage.added} value={<LocalTime timeMs={model.appAddedAt} />} />
        </dl>
      )}
      <div class="page-actions">
        <ButtonLink to={appPath} label={isOn ? app.replace : app.setUp} icon="qr" look={isOn ? "plain" : "primary"} />
        {isOn && (
          <ProvenChange
            model={model}
            form="remove_app"
            label={app.remove}
            explanation={app.removeText}
            confirm={app.removeConfirm}
            action={removeAppPath}
          />
        )}
      </div>
    </Card>
  );
}
