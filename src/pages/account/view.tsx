import type { ComponentChildren } from "preact";
import { signOnSettingsPath } from "../../accounts/accounts.ts";
import { type KindOption, kindOptions } from "../../config/topics/kinds.ts";
import { factorsPath } from "../../http/authentication.ts";
import { wireName } from "../../http/errors.ts";
import { Layout } from "../layout.tsx";
import { MessagePage } from "../message-page.tsx";
import { type Page, type PageContext, pageHref, useMessages, usePage } from "../page.ts";
import { ButtonLink, FormEnd, Label, Submit } from "../parts/buttons.tsx";
import { PageHeading } from "../parts/card.tsx";
import { Fact } from "../parts/fact.tsx";
import { Checkbox, EmailField, NewPasswordField, NumberField, PasswordField, SelectField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Notice, problemsAt } from "../parts/notice.tsx";
import { PostButton, PostForm } from "../parts/post-form.tsx";
import { LocalTime, RelativeTime } from "../parts/times.tsx";
import { idOfDefault, type KindForm, labelOfName, numberNames } from "./defaults-form.ts";
import { type AccountField, type AccountModel, type AccountProps, labelsOf, revokeTokensField } from "./model.ts";
import { type AccountTab, accountPath, accountTabPath, accountTabs, presetsPath } from "./path.ts";

const sections: Readonly<Record<AccountTab, (props: AccountProps) => ComponentChildren>> = {
  general: (props) => (
    <>
      <EmailSection {...props} />
      <LanguageSection {...props} />
    </>
  ),
  access: (props) => (
    <>
      {!props.model.signOnOnly && <PasswordSection {...props} />}
      {!props.model.signOnOnly && <FactorsSection {...props} />}
      <SignOnSection provider={props.model.provider} />
    </>
  ),
  sessions: (props) => (
    <>
      <SessionsSection {...props} />
      <TokensSection {...props} />
    </>
  ),
  defaults: DefaultsSection,
  data: (props) => (
    <>
      <DataSection />
      <DeleteSection {...props} />
    </>
  ),
};

/** Each tab is a page, each section of it a form or a link to another page. */
export function accountView(model: AccountModel, page: PageContext): Page {
  const { profile, problems } = page.messages;
  const Sections = sections[model.tab];
  const found = problemsAt(labelsOf(page.messages), model.state.problems, page.messages);
  const title = found.length > 0 ? `${problems.heading} · ${profile.heading}` : profile.heading;
  return (
    <Layout page={page} title={title} asksFirstAt={accountTabPath(model.tab)} isPublic>
      <PageHeading heading={profile.heading} />
      <nav class="segments section-tabs" aria-label={profile.contents}>
        {accountTabs.map((tab) => (
          <a key={tab} href={pageHref(page, accountTabPath(tab))} aria-current={tab === model.tab ? "page" : undefined}>
            {profile.tabs[tab]}
          </a>
        ))}
      </nav>
      {model.done !== null && model.done !== "confirmation" && (
        <Notice tone="success" icon="check" alert text={profile.saved[model.done]} />
      )}
      <FormNotices state={model.state} problems={found} />
      <div class="cards">
        <Sections model={model} />
      </div>
    </Layout>
  );
}

function FactorsSection({ model }: AccountProps) {
  const { factors } = useMessages().profile;
  return (
    <Section name="factors" heading={factors.heading}>
      <p>{model.hasSecondFactor ? factors.on : factors.off}</p>
      <div class="form-end">
        <ButtonLink
          to={factorsPath}
          label={model.hasSecondFactor ? factors.manage : factors.setUp}
          look={model.hasSecondFactor ? "plain" : "primary"}
        />
      </div>
    </Section>
  );
}

function TokensSection({ model }: AccountProps) {
  const { tokens } = useMessages().profile;
  return (
    <Section name="tokens" heading={tokens.heading}>
      <p>{tokens.text({ count: model.tokensInUse })}</p>
      {model.newTokens.length > 0 && (
        <Notice tone="info" icon="key">
          <p>{tokens.made}</p>
          <ul>
            {model.newTokens.map(({ id, name, createdAt }) => (
              <li key={id}>
                <bdi>{name}</bdi> · <LocalTime timeMs={createdAt} />
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <div class="form-end">
        <ButtonLink to="/users/token" label={tokens.manage} />
      </div>
    </Section>
  );
}

function DataSection() {
  const page = usePage();
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

function EmailSection({ model }: AccountProps) {
  const { email } = useMessages().profile;
  const { confirmation } = email;
  const problem = model.state.problems.email_confirmation;
  return (
    <Section name="email" heading={email.heading}>
      <p>{email.current.parts({ email: <strong dir="ltr">{model.email}</strong> })}</p>
      {model.unconfirmedEmail !== null && (
        <Notice tone="info" icon="clock">
          <p>{email.waiting.parts({ email: <strong dir="ltr">{model.unconfirmedEmail}</strong> })}</p>
        </Notice>
      )}
      {/* The result is shown here, not at the top of the page. */}
      {model.mayConfirm && (
        <div class="stack-small form-narrow">
          {model.done === "confirmation" ? (
            <Notice tone="success" icon="check" alert text={confirmation.sent} />
          ) : (
            <Notice tone="info" icon="alert" text={confirmation.missing} />
          )}
          {problem !== undefined && (
            <p class="field-problem" id="email_confirmation_problem">
              {problem}
            </p>
          )}
          <PostForm action={`${accountPath}/email/confirmation`} answerAt="email_section">
            <div class="form-end">
              <Submit
                label={model.done === "confirmation" ? confirmation.again : confirmation.send}
                look="plain"
                id="email_confirmation"
                aria-describedby={problem === undefined ? undefined : "email_confirmation_problem"}
              />
            </div>
          </PostForm>
        </div>
      )}
      <PostForm class="form" action={`${accountPath}/email`}>
        <EmailField
          label={email.new}
          hint={model.confirmsByMail ? email.hintLink : email.hintAtOnce}
          value={model.newEmail}
          problem={model.state.problems.email}
          autoComplete="email"
        />
        <AskAgain id="email_password" model={model} />
        <FormEnd label={email.submit} />
      </PostForm>
    </Section>
  );
}

function PasswordSection({ model }: AccountProps) {
  const { password } = useMessages().profile;
  return (
    <Section name="password" heading={password.heading}>
      <p>{model.hasPassword ? password.lead : password.firstLead}</p>
      <PostForm class="form" action={`${accountPath}/password`}>
        {/* For password managers, which store a password under its user name. */}
        <input type="text" name="username" value={model.email} autoComplete="username" hidden readOnly />
        {model.hasPassword && (
          <PasswordField
            id="current_password"
            label={password.current}
            problem={model.state.problems.current_password}
          />
        )}
        <NewPasswordField id="new_password" label={password.new} problem={model.state.problems.new_password} />
        {model.tokensInUse > 0 && (
          <Checkbox id={revokeTokensField} label={password.revokeTokens} hint={password.revokeTokensHint} checked />
        )}
        <FormEnd label={model.hasPassword ? password.submit : password.submitFirst} />
      </PostForm>
    </Section>
  );
}

function LanguageSection({ model }: AccountProps) {
  const page = usePage();
  const { language } = page.messages.profile;
  const options = [
    { value: "", label: language.browser },
    ...page.languages.map(({ locale: { tag, name } }) => ({ value: tag, label: name, lang: tag })),
  ];
  return (
    <Section name="language" heading={language.heading}>
      <PostForm class="form" action={`${accountPath}/language`}>
        <SelectField
          id="language"
          label={language.label}
          value={model.language}
          options={options}
          problem={model.state.problems.language}
        />
        <FormEnd label={language.submit} />
      </PostForm>
    </Section>
  );
}

function SessionsSection({ model }: AccountProps) {
  const { sessions } = useMessages().profile;
  return (
    <Section name="sessions" heading={sessions.heading}>
      <p>{sessions.lead}</p>
      <ul class="rows">
        {model.sessions.map((session) => (
          <li key={session.id} class="row account-session">
            <div class="line">
              <h3 dir="auto">{session.browser}</h3>
              {session.current && <span class="badge badge-active">{sessions.current}</span>}
              {!session.current && (
                <PostForm class="account-session-end" action={`${accountPath}/sessions/${session.id}/end`}>
                  <Submit label={sessions.end} look="action-danger" aria-label={sessions.endOne(session)} />
                </PostForm>
              )}
            </div>
            <dl class="facts facts-inline">
              <Fact label={sessions.from} ltr value={session.address} />
              <Fact label={sessions.began} value={<LocalTime timeMs={session.createdAt} />} />
              <Fact label={sessions.seen} value={<RelativeTime timeMs={session.seenAt} nowMs={model.now} />} />
            </dl>
          </li>
        ))}
      </ul>
      {model.sessions.some((session) => !session.current) && (
        <PostButton action={`${accountPath}/sessions/end_others`} label={sessions.others} look="plain" />
      )}
    </Section>
  );
}

function DeleteSection({ model }: AccountProps) {
  const { delete: text } = useMessages().profile;
  return (
    <Section name="delete" heading={text.heading}>
      <p>{text.text}</p>
      <details class="confirm" open={model.state.problems.delete_password !== undefined}>
        <summary class="button button-quiet-danger">
          <Label icon="trash" text={text.open} />
        </summary>
        <PostForm class="form" action={`${accountPath}/delete`}>
          <AskAgain id="delete_password" model={model} />
          <FormEnd label={text.submit} look="danger" />
        </PostForm>
      </details>
    </Section>
  );
}

export function deletedView(page: PageContext): Page {
  const { profile, failure } = page.messages;
  return (
    <MessagePage page={page} title={profile.deleted.title} icon="check" heading={profile.deleted.heading} isPublic>
      <p>{profile.deleted.text}</p>
      <ButtonLink to="/" label={failure.home} />
    </MessagePage>
  );
}

const signOnSection = "single_sign_on";

function SignOnSection({ provider }: { readonly provider: string | null }) {
  const { singleSignOn } = useMessages();
  if (provider === null) return null;
  return (
    <Section name={signOnSection} heading={singleSignOn.heading}>
      <p>{singleSignOn.lead({ name: provider })}</p>
      <div class="form-end">
        <ButtonLink to={signOnSettingsPath} label={singleSignOn.manage} />
      </div>
    </Section>
  );
}

interface SectionProps {
  readonly name: string;
  readonly heading: string;
  readonly children: ComponentChildren;
}

function Section({ name, heading, children }: SectionProps) {
  return (
    <section class="card account-section" id={`${name}_section`} aria-labelledby={`${name}_heading`}>
      <h2 id={`${name}_heading`}>{heading}</h2>
      {children}
    </section>
  );
}

interface AskAgainProps {
  readonly id: Extract<AccountField, "email_password" | "delete_password">;
  readonly model: Pick<AccountModel, "hasPassword" | "email" | "state">;
}

/** Asks for the password again. A user without one must have signed in recently; the server checks that itself. */
function AskAgain({ id, model }: AskAgainProps) {
  const { again } = useMessages().profile;
  const problem = model.state.problems[id];
  if (!model.hasPassword) {
    return (
      <p class={problem === undefined ? "field-hint" : "field-problem"} id={id} tabIndex={-1}>
        {problem ?? again.signIn}
      </p>
    );
  }
  return <PasswordField id={id} name="password" label={again.password} hint={again.passwordHint} problem={problem} />;
}

function DefaultsSection({ model }: AccountProps) {
  const messages = useMessages();
  const { profile, kinds } = messages;
  const { defaults } = profile;
  const form = model.defaults;
  const options = [
    { value: "", label: defaults.server({ value: kinds[form.serverFirst] }) },
    ...form.kinds.map(({ kind }) => ({ value: kind, label: kinds[kind] })),
  ];
  return (
    <Section name="defaults" heading={defaults.heading}>
      <p>{defaults.lead}</p>
      <PostForm class="form" action={`${accountPath}/defaults`}>
        <SelectField
          id="first_kind"
          label={defaults.first}
          value={form.first}
          options={options}
          problem={model.state.problems.first_kind}
        />
        <div class="account-kinds">
          {form.kinds.map((kind) => (
            <KindFields key={kind.kind} form={kind} problems={model.state.problems} />
          ))}
        </div>
        <FormEnd label={defaults.submit}>
          <ButtonLink to={presetsPath} label={messages.presets.manage} />
        </FormEnd>
      </PostForm>
    </Section>
  );
}

interface KindProps {
  readonly form: KindForm;
  readonly problems: AccountProps["model"]["state"]["problems"];
}

function KindFields({ form, problems }: KindProps) {
  const page = usePage();
  const { kinds, profile } = page.messages;
  const { defaults } = profile;
  const { kind, settings, values } = form;
  const fieldOf = (name: (typeof numberNames)[number] | KindOption) => ({
    id: idOfDefault(kind, name),
    name: `${kind}[${wireName(name)}]`,
    label: labelOfName(name, page.messages),
    value: values[name],
    problem: problems[idOfDefault(kind, name)],
  });
  const isWrong = Object.keys(problems).some((field) => field.startsWith(`${kind}_`));
  return (
    <details class="account-kind disclosure" open={isWrong}>
      <summary class="line">
        <Label icon={kind} text={kinds[kind]} />
      </summary>
      <fieldset class="stack-small account-kind-fields">
        <legend class="visually-hidden">{kinds[kind]}</legend>
        <div class="pair">
          {numberNames.map((name) => (
            <NumberField
              key={name}
              {...fieldOf(name)}
              range={settings[name]}
              hint={defaults.serverHint({
                min: settings[name].min,
                max: settings[name].max,
                value: settings[name].default,
              })}
              placeholder={String(settings[name].default)}
            />
          ))}
        </div>
        {kindOptions.map((option) =>
          settings[option].offered ? (
            <SelectField key={option} {...fieldOf(option)} options={choiceOptions(settings[option].default, page)} />
          ) : null,
        )}
      </fieldset>
    </details>
  );
}

function choiceOptions(serverDefault: boolean, page: PageContext) {
  const { defaults } = page.messages.profile;
  return [
    { value: "", label: defaults.server({ value: serverDefault ? defaults.on : defaults.off }) },
    { value: "1", label: defaults.on },
    { value: "0", label: defaults.off },
  ];
}
