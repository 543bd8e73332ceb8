import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref, untranslated } from "../page.ts";
import { Button, CopyButton } from "../parts/buttons.tsx";
import { Notice } from "../parts/notice.tsx";

export interface BackupCodesModel {
  readonly codes: readonly string[];
  /** They were created together with a new factor. */
  readonly added: boolean;
  /** The page to go to afterwards. */
  readonly next: string;
}

/** New codes. They are not stored, so they can be shown only once. */
export function backupCodesView(model: BackupCodesModel, page: PageContext): Page {
  const { codes } = page.messages.factors;
  return (
    <Layout page={page} title={codes.madeHeading} width="narrow">
      <div class="card" data-secret>
        {model.added && <Notice tone="success" icon="check" alert text={codes.added} />}
        <h1>{codes.madeHeading}</h1>
        <p class="lead">{codes.madeText}</p>
        <pre class="exact-text backup-codes" id="backup_codes" dir="ltr" translate={untranslated}>
          {model.codes.join("\n")}
        </pre>
        <div class="page-actions no-print" hidden data-scripted>
          <CopyButton of="backup_codes" label={codes.copy} />
          <Button
            label={codes.save}
            icon="download"
            data-save="backup_codes"
            data-filename="sealpush-backup-codes.txt"
          />
          <Button label={codes.print} icon="print" data-print />
        </div>
        <a class="button button-primary button-large button-wide no-print" href={pageHref(page, model.next)}>
          {codes.done}
        </a>
      </div>
    </Layout>
  );
}
