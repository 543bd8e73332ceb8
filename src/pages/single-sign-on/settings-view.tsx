import { signOnSettingsPath } from "../../accounts/accounts.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { PasswordField } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { LocalTime } from "../parts/times.tsx";

export interface SignOnSettingsModel {
  readonly provider: string;
  /** Times of today's links, the newest first; milliseconds since the epoch. */
  readonly linkedAt: readonly number[];
  /** False: single sign-on is the account's only way in. */
  readonly hasPassword: boolean;
  /** What is wrong with the password that was to unlink it. */
  readonly problem: string | null;
}

/** Linking is posted to `<path>/link`; field `password`, to unlink, to `<path>/unlink`. */
export function signOnSettingsView(model: SignOnSettingsModel, page: PageContext): Page {
  const { singleSignOn } = page.messages;
  const name = model.provider;
  return (
    <Layout page={page} title={singleSignOn.heading} privatePage width="narrow">
      <div class="page-heading">
        <h1>{singleSignOn.heading}</h1>
        <p class="lead">{singleSignOn.lead({ name })}</p>
      </div>
      <section class="card" aria-labelledby="linked">
        <h2 class="section-heading" id="linked">
          {model.linkedAt.length > 0 ? singleSignOn.linked({ name }) : singleSignOn.notLinked}
        </h2>
        {model.linkedAt.length > 0 ? (
          <Linked model={model} page={page} />
        ) : (
          <PostForm page={page} class="form" action={`${signOnSettingsPath}/link`}>
            <p>{singleSignOn.linkText({ name })}</p>
            <div class="form-end">
              <button type="submit" class="button button-primary">
                <Icon name="url" />
                <span>{singleSignOn.link({ name })}</span>
              </button>
            </div>
          </PostForm>
        )}
      </section>
      <p>
        <a href={pageHref(page, "/users/edit")}>{singleSignOn.backToAccount}</a>
      </p>
    </Layout>
  );
}

function Linked({ model, page }: { readonly model: SignOnSettingsModel; readonly page: PageContext }) {
  const { messages } = page;
  const { singleSignOn } = messages;
  return (
    <>
      <dl class="row-facts">
        {model.linkedAt.map((timeMs) => (
          <Fact key={timeMs} label={singleSignOn.linkedSince}>
            <LocalTime timeMs={timeMs} messages={messages} />
          </Fact>
        ))}
      </dl>
      {model.hasPassword ? (
        <details class="confirm" open={model.problem !== null}>
          <summary class="button button-quiet-danger">
            <Icon name="trash" />
            <span>{singleSignOn.unlink}</span>
          </summary>
          <PostForm page={page} class="form" action={`${signOnSettingsPath}/unlink`}>
            <p>{singleSignOn.unlinkText({ name: model.provider })}</p>
            <PasswordField
              id="password"
              label={singleSignOn.yourPassword}
              problem={model.problem ?? undefined}
              focus={model.problem !== null}
            />
            <div class="form-end">
              <button type="submit" class="button button-danger">
                {singleSignOn.unlinkConfirm}
              </button>
            </div>
          </PostForm>
        </details>
      ) : (
        <Notice tone="info" icon="key">
          <p>{singleSignOn.onlyWayIn}</p>
        </Notice>
      )}
    </>
  );
}
