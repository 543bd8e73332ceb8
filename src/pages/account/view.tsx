import { factorsPath } from "../../http/authentication.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Notice, ProblemSummary } from "../parts/notice.tsx";
import { SignOnSection, signOnSection } from "../single-sign-on/account-section.tsx";
import { DefaultsSection } from "./defaults-section.tsx";
import { DeleteSection } from "./delete-section.tsx";
import { EmailSection } from "./email-section.tsx";
import { accountFields, labelOf } from "./field-labels.ts";
import { LanguageSection } from "./language-section.tsx";
import { type AccountModel, accountPath } from "./model.ts";
import { PasswordSection } from "./password-section.tsx";
import { Section } from "./section.tsx";
import { SessionsSection } from "./sessions-section.tsx";

export interface AccountProps {
  readonly model: AccountModel;
  readonly page: PageContext;
}

/** Every section is a form of its own, or leads to a page of its own. */
export function accountView(model: AccountModel, page: PageContext): Page {
  const { profile, problems } = page.messages;
  const found = accountFields.flatMap((fieldId) => {
    const problem = model.problems[fieldId];
    if (problem === undefined) return [];
    return [{ fieldId, message: problems.of({ field: labelOf(fieldId, page.messages), problem }) }];
  });
  const title = found.length > 0 ? `${problems.heading} · ${profile.heading}` : profile.heading;
  return (
    <Layout page={page} title={title} width="wide">
      <div class="page-heading">
        <h1>{profile.heading}</h1>
      </div>
      <div class="account-columns">
        <Contents model={model} page={page} />
        <div class="stack">
          {model.done !== null && model.done !== "confirmation" && (
            <Notice tone="success" icon="check" alert>
              <p>{profile.saved[model.done]}</p>
            </Notice>
          )}
          {found.length > 0 && <ProblemSummary heading={problems.heading} problems={found} />}
          <EmailSection model={model} page={page} />
          <PasswordSection model={model} page={page} />
          <FactorsSection model={model} page={page} />
          <SignOnSection page={page} provider={model.provider} />
          <SessionsSection model={model} page={page} />
          <TokensSection model={model} page={page} />
          <DefaultsSection model={model} page={page} />
          <LanguageSection model={model} page={page} />
          <DataSection page={page} />
          <DeleteSection model={model} page={page} />
        </div>
      </div>
    </Layout>
  );
}

function Contents({ model, page }: AccountProps) {
  const { profile, singleSignOn } = page.messages;
  const sections = [
    "email",
    "password",
    "factors",
    "sessions",
    "tokens",
    "defaults",
    "language",
    "data",
    "delete",
  ] as const;
  return (
    <nav class="account-contents" aria-label={profile.contents}>
      <ul>
        {sections.map((name) => (
          <li key={name}>
            <a href={`#${name}_section`}>{profile[name].heading}</a>
          </li>
        ))}
        {model.provider !== null && (
          <li>
            <a href={`#${signOnSection}_section`}>{singleSignOn.heading}</a>
          </li>
        )}
      </ul>
    </nav>
  );
}

function FactorsSection({ model, page }: AccountProps) {
  const { factors } = page.messages.profile;
  return (
    <Section name="factors" heading={factors.heading}>
      <p>{model.hasSecondFactor ? factors.on : factors.off}</p>
      <div class="form-end">
        <a class={model.hasSecondFactor ? "button" : "button button-primary"} href={pageHref(page, factorsPath)}>
          {model.hasSecondFactor ? factors.manage : factors.setUp}
        </a>
      </div>
    </Section>
  );
}

function TokensSection({ model, page }: AccountProps) {
  const { tokens } = page.messages.profile;
  return (
    <Section name="tokens" heading={tokens.heading}>
      <p>{tokens.text({ count: model.tokensInUse })}</p>
      <div class="form-end">
        <a class="button" href={pageHref(page, "/users/token")}>
          {tokens.manage}
        </a>
      </div>
    </Section>
  );
}

function DataSection({ page }: { readonly page: PageContext }) {
  const { data } = page.messages.profile;
  return (
    <Section name="data" heading={data.heading}>
      <p>{data.text}</p>
      <div class="form-end">
        <a class="button" href={pageHref(page, `${accountPath}/data`)} download>
          {data.download}
        </a>
      </div>
    </Section>
  );
}
