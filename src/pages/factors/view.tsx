import { Layout } from "../layout.tsx";
import { type Page, type PageContext, type PartProps, pageHref, useMessages, usePage } from "../page.ts";
import { PageHeading } from "../parts/card.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { LocalTime } from "../parts/times.tsx";
import { withNext } from "../return-path.ts";
import { type FactorsModel, hasFactor } from "./model.ts";
import { PasskeySection } from "./passkey-section.tsx";
import { appPath, backupCodesPath, removeAppPath } from "./paths.ts";
import { ProvenChange } from "./proof.tsx";

/** The second factors of the account, and every way to change them. */
export function factorsView(model: FactorsModel, page: PageContext): Page {
  const { manage } = page.messages.factors;
  return (
    <Layout page={page} title={manage.heading} width="regular" privatePage scripts={["passkeys.js"]}>
      <PageHeading heading={manage.heading} lead={manage.lead} />
      {model.required && <Notice tone="warning" icon="shield" text={manage.required} />}
      {hasFactor(model) && model.backupCodesLeft === 0 && <CodesMissing model={model} />}
      <div class="cards">
        <AppSection model={model} />
        <PasskeySection model={model} />
        {hasFactor(model) && <BackupCodesSection model={model} />}
      </div>
      <p class="field-hint">{manage.othersEnd}</p>
    </Layout>
  );
}

type SectionProps = PartProps<FactorsModel>;

function CodesMissing({ model }: SectionProps) {
  const page = usePage();
  const { codes } = page.messages.factors;
  return (
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
  );
}

function AppSection({ model }: SectionProps) {
  const page = usePage();
  const { app, manage } = page.messages.factors;
  const isOn = model.appAddedAt !== null;
  return (
    <section class="card" aria-labelledby="app">
      <div class="row-main">
        <h2 class="section-heading" id="app">
          {app.heading}
        </h2>
        <span class={isOn ? "badge badge-active" : "badge"}>{isOn ? manage.on : manage.off}</span>
      </div>
      <p>{app.text}</p>
      {model.appAddedAt !== null && (
        <dl class="row-facts">
          <div>
            <dt>{manage.added}</dt>
            <dd>
              <LocalTime timeMs={model.appAddedAt} />
            </dd>
          </div>
        </dl>
      )}
      <div class="page-actions">
        <a class={isOn ? "button" : "button button-primary"} href={pageHref(page, appPath)}>
          <Icon name="qr" />
          <span>{isOn ? app.replace : app.setUp}</span>
        </a>
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
    </section>
  );
}

function BackupCodesSection({ model }: SectionProps) {
  const { codes } = useMessages().factors;
  return (
    <section class="card" aria-labelledby="codes">
      <div class="row-main">
        <h2 class="section-heading" id="codes">
          {codes.heading}
        </h2>
        <span class={model.backupCodesLeft > 0 ? "badge badge-active" : "badge"}>
          {codes.left({ count: model.backupCodesLeft })}
        </span>
      </div>
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
    </section>
  );
}
