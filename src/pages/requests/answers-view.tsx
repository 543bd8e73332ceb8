import type { ListedPush } from "../../pushes/pushes.ts";
import type { OwnedRequest } from "../../requests/requests.ts";
import { Layout } from "../layout.tsx";
import { Facts } from "../lists/list.tsx";
import { StateBadge } from "../lists/push-columns.tsx";
import { type Page, type PageContext, pageHref, untranslated, useMessages, usePage } from "../page.ts";
import { CopyButton, FormEnd, ShowButton } from "../parts/buttons.tsx";
import { Fact } from "../parts/fact.tsx";
import { Field, InputField } from "../parts/fields.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { LocalTime } from "../parts/times.tsx";
import { requestsPath } from "./paths.ts";
import { requestColumns } from "./view.tsx";

interface AnswersModel {
  readonly request: OwnedRequest;
  readonly answers: readonly ListedPush[];
  /** For those who shall answer. */
  readonly link: string;
}

function RequestEndings({ request }: Pick<AnswersModel, "request">) {
  const { requests: text } = useMessages();
  return (
    <div class="page-actions" data-keeps-key={request.isAnonymous || undefined}>
      {request.state === "open" && (
        <Confirm
          icon="close"
          label={text.close}
          explanation={text.closeText}
          confirm={text.close}
          action={`${requestsPath}/${request.urlToken}/close`}
          group="ending"
        />
      )}
      <Confirm
        icon="trash"
        label={text.delete}
        explanation={request.isAnonymous ? text.deleteOnlyText : text.deleteText}
        confirm={text.delete}
        action={`${requestsPath}/${request.urlToken}/delete`}
        group="ending"
      />
    </div>
  );
}

/** The script adds the key to the links of the answers (browser/parts/request-key.ts). */
export function answersView({ request, answers, link }: AnswersModel, page: PageContext): Page {
  const { messages } = page;
  const { requests: text } = messages;
  return (
    <Layout page={page} title={text.heading} width={page.user === null ? "regular" : "wide"} scripts={["requests.js"]}>
      <div class="page-heading">
        <h1 translate={untranslated}>
          <bdi>{request.title}</bdi>
        </h1>
        {request.note !== "" && (
          <p class="lead whole-note">
            <bdi>{request.note}</bdi>
          </p>
        )}
      </div>
      <div class="stack cards">
        <section class="card stack" data-ends-keys>
          <Facts row={request} columns={requestColumns(page).slice(1)} />
          {request.state === "open" && (
            <LinkField id="link" label={text.link} hint={text.linkHint} value={link} copy={text.copyLink} primary />
          )}
          {request.identitySealed === "" && (
            <div hidden data-request-key="found">
              <LinkField
                id="private_link"
                label={text.privateLink}
                hint={request.isAnonymous ? text.privateOnlyHint : text.privateHint}
                value=""
                copy={text.copyPrivateLink}
              />
            </div>
          )}
          {/* A script shows it once this browser has stored the key. */}
          <p class="field-hint" hidden data-key-here>
            {page.user?.staysSignedIn === true ? text.keyStays : text.keyUntilSignOut}{" "}
            {request.identitySealed === "" ? text.opensByLink : text.opensByPassphrase}
          </p>
        </section>
        <Answers request={request} answers={answers} />
      </div>
      <RequestEndings request={request} />
    </Layout>
  );
}

function Answers({ request, answers }: Omit<AnswersModel, "link">) {
  const { requests: text } = useMessages();
  return (
    <section
      class="card stack"
      aria-labelledby="answers"
      data-encryption-check={request.encryptionCheck}
      data-identity-sealed={request.identitySealed}
    >
      <h2 id="answers">{text.answers}</h2>
      {answers.length === 0 ? <p>{text.noAnswers}</p> : <AnswerKey request={request} />}
      {answers.length > 0 && (
        <>
          <p>{text.once}</p>
          <ul class="rows">
            {answers.map((push, at) => (
              <AnswerRow key={push.id} push={push} number={at + 1} hasAudit={!request.isAnonymous} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

interface LinkFieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  /** The label of the button: nobody should send the private link by mistake. */
  readonly copy: string;
  readonly primary?: boolean;
}

function LinkField({ id, label, hint, value, copy, primary = false }: LinkFieldProps) {
  return (
    <Field
      id={id}
      label={label}
      hint={hint}
      control={(attributes) => (
        <div class="input-row">
          <input {...attributes} class="input input-link" type="text" readOnly value={value} dir="ltr" data-select />
          <CopyButton of={id} label={copy} primary={primary} />
        </div>
      )}
    />
  );
}

/** What is needed before the answers can be opened. */
function AnswerKey({ request }: { readonly request: OwnedRequest }) {
  const { requests: text } = useMessages();
  return (
    <>
      <p
        class="visually-hidden"
        role="status"
        data-request-key-status
        data-unlocked={text.unlocked}
        data-unlocking={text.unlocking}
      />
      {request.identitySealed === "" ? (
        <div data-request-key="missing">
          <Notice tone="warning" icon="key" text={text.keyMissing} />
        </div>
      ) : (
        <form class="form" autoComplete="off" hidden data-request-key="missing" data-unlock>
          <InputField
            id="unlock_passphrase"
            label={text.passphrase}
            hint={text.unlockHint}
            wrongPassphrase={text.wrongPassphrase}
            input={{ type: "password", required: true, autoComplete: "off", spellcheck: false }}
            inside={<ShowButton of="unlock_passphrase" />}
          />
          <FormEnd label={text.unlock} icon="key" />
        </form>
      )}
    </>
  );
}

function AnswerRow({
  push,
  number,
  hasAudit,
}: {
  readonly push: ListedPush;
  readonly number: number;
  readonly hasAudit: boolean;
}) {
  const page = usePage();
  const { messages } = page;
  const { requests: text, dashboard, kinds } = messages;
  const name = text.answer({ number });
  const path = push.urlToken === null ? null : `/p/${push.urlToken}`;
  const labelled = (action: string) => dashboard.actionOn({ action, name });
  return (
    <li class="row">
      <h3>{name}</h3>
      <dl class="facts facts-inline">
        <Fact label={kinds.label} value={kinds[push.kind]} />
        <Fact label={text.state} value={<StateBadge push={push} reader="owner" />} />
        <Fact label={messages.tokens.created} value={<LocalTime timeMs={push.createdAt} />} />
      </dl>
      {path === null && <p>{dashboard.linkNotStored}</p>}
      {path !== null && (!push.expired || hasAudit) && (
        <div class="row-actions">
          {!push.expired && (
            <a
              class="button button-primary"
              href={pageHref(page, `${path}/r`)}
              aria-label={labelled(text.openAnswer)}
              hidden
              data-answer-link
            >
              {text.openAnswer}
            </a>
          )}
          {hasAudit && (
            <a class="button" href={pageHref(page, `${path}/audit`)} aria-label={labelled(dashboard.audit)}>
              {dashboard.audit}
            </a>
          )}
        </div>
      )}
    </li>
  );
}
