import type { ComponentChildren } from "preact";
import { nameOf } from "../../branding/branding.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { asksForPassphrase } from "../../pushes/pushes.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, type PartProps, pageHref, useMessages, usePage } from "../page.ts";
import { ShowButton, Submit } from "../parts/buttons.tsx";
import { InputField } from "../parts/fields.tsx";
import { Emblem } from "../parts/logo.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { ShortTime } from "../parts/times.tsx";
import type { StepModel } from "./model.ts";

const formId = "open";

/** The retrieval step and the passphrase prompt: says what a click does, and shows nothing of the secret. */
export function stepView(model: StepModel, page: PageContext): Page {
  const { messages } = page;
  const { step, problems } = messages;
  const { refusal } = model;
  return (
    <Layout
      page={page}
      title={step.title}
      hasCard
      width="narrow"
      scripts={model.endToEnd === null ? [] : ["sealed-link.js"]}
    >
      <div class="card card-centered">
        <Emblem />
        <h1>{headingOf(model, step)}</h1>
        <p class="lead">{leadOf(model, step)}</p>
        {refusal?.reason === "too_many" && (
          <Notice tone="danger" icon="clock" alert>
            <p data-wait-form={formId} data-wait-seconds={refusal.retryAfterSeconds} data-wait-over={problems.waitOver}>
              {problems.tooManyAttempts({ count: refusal.retryAfterSeconds })}
            </p>
          </Notice>
        )}
        {refusal?.reason === "used" && <Notice tone="warning" icon="eye" alert text={step.used} />}
        {refusal === null && <OpenedBefore counts={model.viewer === "recipient"} />}
        <SealedStep model={model}>
          <OpeningFailed />
          <PostForm class="form" id={formId} action={model.action} autoComplete="off" opensInPlace={model.retrySeconds}>
            <input type="hidden" name="idempotency_key" value={model.idempotencyKey} />
            {model.passphraseRequired && (
              <InputField
                id="passphrase"
                label={step.passphrase}
                problem={refusal?.reason === "wrong" ? step.wrong : undefined}
                input={{ type: "password", required: true, autoComplete: "off", spellcheck: false }}
                inside={<ShowButton of="passphrase" />}
                focus
              />
            )}
            <Submit label={step.open} icon="key" look="wide" />
          </PostForm>
        </SealedStep>
        {refusal?.reason !== "too_many" && <Until model={model} />}
        {model.auditPath !== null && <a href={pageHref(page, model.auditPath)}>{step.audit}</a>}
        {model.viewer === "recipient" && <About />}
      </div>
    </Layout>
  );
}

function headingOf({ viewer, sender }: StepModel, step: Messages["step"]) {
  if (viewer === "owner") return step.headingOwner;
  if (sender === null) return step.heading;
  return step.headingFrom.parts({
    sender: (
      <bdi key="sender" class="address">
        {sender}
      </bdi>
    ),
  });
}

/** What a click does, and that it counts. */
function leadOf({ viewer, viewsRemaining, ...model }: StepModel, step: Messages["step"]): string {
  if (viewer === "owner") return step.leadOwner;
  if (viewer === "administrator") return step.notCountedAdministrator;
  const counts = viewsRemaining === null ? step.lead : step.viewsLeft({ count: viewsRemaining });
  return asksForPassphrase(model) ? `${step.leadPassphrase} ${counts}` : counts;
}

interface OpenedBeforeProps {
  /** Whether another opening is another view. */
  readonly counts: boolean;
}

/** For somebody who comes back: a script shows when this tab has opened the secret (browser/parts/open-in-place.ts). */
export function OpenedBefore({ counts }: OpenedBeforeProps) {
  const { step } = useMessages();
  return (
    <div hidden data-opened-at={step.openedAt({ time: "{time}" })}>
      <Notice tone="info" icon="eye">
        <p />
        {counts && <p data-counts-again>{step.openingCounts}</p>}
      </Notice>
    </div>
  );
}

/** A script shows it if no answer came. The page names that script here, because it is loaded when it is needed. */
export function OpeningFailed() {
  const { messages, assetUrl, assetIntegrity } = usePage();
  const name = "open-in-place.js";
  return (
    <div hidden data-opening-failed data-script={assetUrl(name)} data-integrity={assetIntegrity(name)}>
      <Notice tone="danger" icon="alert" alert text={messages.step.unanswered} />
    </div>
  );
}

interface SealedStepProps extends StepProps {
  readonly children: ComponentChildren;
}

/** Before a view is spent, the script checks the key in the link (browser/parts/key-in-link.ts). */
function SealedStep({ model: { endToEnd, action, idempotencyKey }, children }: SealedStepProps) {
  const text = useMessages().endToEnd;
  if (endToEnd === null) return children;
  return (
    <div data-sealed-step={endToEnd.check ?? ""}>
      <div hidden data-key-state="right">
        {children}
      </div>
      <KeyProblems />
      <noscript>
        <Notice tone="warning" icon="key" text={text.needsScript} />
        <PostForm class="form" action={action} autoComplete="off">
          <input type="hidden" name="idempotency_key" value={idempotencyKey} />
          <Submit label={text.showSealed} look="alternative" />
        </PostForm>
      </noscript>
    </div>
  );
}

/** Why a sealed secret cannot be opened here; a script shows one of them. */
export function KeyProblems() {
  const text = useMessages().endToEnd;
  const problems = [
    { state: "missing", heading: text.missingHeading, text: text.missingText },
    { state: "wrong", heading: text.wrongHeading, text: text.wrongText },
    { state: "insecure", heading: text.insecureHeading, text: text.insecureText },
  ] as const;
  return (
    <>
      {problems.map((problem) => (
        <div key={problem.state} hidden data-key-state={problem.state}>
          <Notice tone="danger" icon="key" alert heading={problem.heading} text={problem.text} />
        </div>
      ))}
    </>
  );
}

/** For people who have never received such a link. The name, logo and tagline of the instance are in the header. */
function About() {
  const { messages, theme } = usePage();
  const { step } = messages;
  return (
    <details class="disclosure about">
      <summary>{step.about}</summary>
      <div class="stack-small about-text field-hint">
        <p>{step.aboutService.parts({ name: <bdi key="name">{nameOf(theme)}</bdi> })}</p>
        <p>{step.aboutEnd}</p>
        <p>{step.aboutCare}</p>
      </div>
    </details>
  );
}

type StepProps = PartProps<StepModel>;

function Until({ model }: StepProps) {
  const messages = useMessages();
  if (model.expiresAt === null) return null;
  const date = <ShortTime key="date" timeMs={model.expiresAt} />;
  return <p class="field-hint">{messages.step.until.parts({ date })}</p>;
}
