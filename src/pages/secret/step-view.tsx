import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { ShowButton } from "../parts/buttons.tsx";
import { InputField } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { SealMark } from "../parts/logo.tsx";
import { TooManyNotice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { LocalTime } from "../parts/times.tsx";

export interface StepModel {
  /** Path that the form is posted to; the POST claims the view. */
  readonly action: string;
  /** A random text that lets the POST be repeated. */
  readonly idempotencyKey: string;
  readonly passphraseRequired: boolean;
  /** Why the attempt before this one failed; null on the first visit. */
  readonly refusal:
    | { readonly reason: "wrong" }
    | { readonly reason: "too_many"; readonly retryAfterSeconds: number }
    | null;
  /** null where the page must not reveal anything about the push yet. */
  readonly viewsRemaining: number | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | null;
  /** False for the owner and administrators, whose views do not count. */
  readonly counted: boolean;
}

/** The retrieval step and the passphrase prompt: says what a click does, and shows nothing of the secret. */
export function stepView(model: StepModel, page: PageContext): Page {
  const { messages } = page;
  const { step } = messages;
  return (
    <Layout page={page} title={step.title} privatePage width="narrow">
      <div class="card card-centered">
        <div class="emblem">
          <SealMark />
        </div>
        <h1>{step.heading}</h1>
        <p class="lead">{model.passphraseRequired ? step.leadPassphrase : step.lead}</p>
        <TooManyNotice
          messages={messages}
          waitSeconds={model.refusal?.reason === "too_many" ? model.refusal.retryAfterSeconds : null}
        />
        <PostForm page={page} class="form" action={model.action} autoComplete="off">
          <input type="hidden" name="idempotency_key" value={model.idempotencyKey} />
          {model.passphraseRequired && (
            <InputField
              id="passphrase"
              label={step.passphrase}
              problem={model.refusal?.reason === "wrong" ? step.wrong : undefined}
              input={{ type: "password", required: true, autoComplete: "off", spellcheck: false }}
              beside={<ShowButton messages={messages} of="passphrase" />}
              focus
            />
          )}
          <button type="submit" class="button button-primary button-large button-wide">
            <Icon name="key" />
            <span>{step.open}</span>
          </button>
        </PostForm>
        {model.refusal?.reason !== "too_many" && <Facts model={model} page={page} />}
      </div>
    </Layout>
  );
}

function Facts({ model, page }: { readonly model: StepModel; readonly page: PageContext }) {
  const { messages } = page;
  const { step } = messages;
  return (
    <ul class="facts facts-quiet">
      {!model.counted && (
        <li class="fact">
          <Icon name="eye" />
          <p>{step.notCounted}</p>
        </li>
      )}
      {model.counted && model.viewsRemaining !== null && (
        <li class="fact">
          <Icon name="eye" />
          <p>{step.viewsLeft({ count: model.viewsRemaining })}</p>
        </li>
      )}
      {model.expiresAt !== null && (
        <li class="fact">
          <Icon name="clock" />
          <p>{step.until.parts({ date: <LocalTime timeMs={model.expiresAt} messages={messages} /> })}</p>
        </li>
      )}
    </ul>
  );
}
