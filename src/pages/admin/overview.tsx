import type { ComponentChildren } from "preact";
import type { Config } from "../../config/config.ts";
import { isNodeOutdated, pinnedPrograms } from "../../config/pinned-programs.ts";
import { isFailing } from "../../database/job-runs.ts";
import { textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { type Page, type PageContext, type PartProps, pageHref, usePage } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostButton } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, takeForm, untouched } from "../take-form.ts";
import { AdminFrame, adminPaths, entryOf } from "./frame.tsx";

/** `GET /admin` */
export function showOverview(page: SignedInRequest): Promise<Reply> {
  return renderOverview(page, untouched);
}

async function renderOverview(page: SignedInRequest, state: FormState): Promise<Reply> {
  const model = await overviewModel(page, state);
  return page.renderForm(overviewView, model, { status: state.status, path: adminPaths.overview });
}

type OverviewModel = Awaited<ReturnType<typeof overviewModel>>;

async function overviewModel(page: SignedInRequest, state: FormState) {
  const { accounts, config, health, jobs, policies, pushes, mail, version } = page.services;
  const [healthNow, totals, mails, users, runs, deletions, isSignUpClosed] = await Promise.all([
    health(),
    pushes.totals(),
    mail.sizes(),
    accounts.countUsers(),
    jobs.list(),
    pushes.deletionCounts(),
    policies.isSignUpClosed(),
  ]);
  return {
    version,
    health: healthNow,
    pushes: totals,
    mails,
    users,
    failures: { jobs: runs.filter(isFailing).length, mails: mails.failed, deletions: deletions.failed },
    /** The version of this Node if it lacks known fixes. */
    outdatedNode: isNodeOutdated(process.versions.node) ? process.versions.node : null,
    steps: stepsModel(config, users.total > 1, isSignUpClosed),
    state,
  };
}

export const signUpSwitchPath = `${adminPaths.overview}/sign_up`;

const signUpForm: FormDeclaration<SignedInRequest, "open" | "closed", never> = {
  read: (fields) => (["open", "closed"] as const).find((choice) => choice === textOf(fields, "sign_up")),
  show: (page, _, state) => renderOverview(page, state),
};

/** `POST /admin/sign_up`. Nobody gets access by it, so no proof is needed. */
export function setSignUp(page: SignedInRequest): Promise<Reply> {
  return takeForm(page, signUpForm, async (choice) => {
    const entry = entryOf(page, "changed_rules", `sign-up: ${choice}`);
    await page.services.policies.setSignUpClosed(choice === "closed", entry);
    return page.redirect(adminPaths.overview);
  });
}

type StepsModel = ReturnType<typeof stepsModel>;

function stepsModel(config: Config, hasOtherUsers: boolean, isSignUpClosed: boolean) {
  return {
    /** null: taken from each request. */
    baseUrl: config.overrideBaseUrl ?? null,
    /** Addresses and networks that the settings name. */
    proxies: config.namedProxies,
    sendsEmail: config.mail !== undefined,
    /** To confirm an address, or to reset a password. */
    sendsAccountEmails: config.accounts.emails,
    hasOtherUsers,
    signUp: signUpState(config, isSignUpClosed),
    /** The command for backups is for SQLite only. */
    engine: config.database.engine,
  };
}

function signUpState({ accounts }: Config, isClosed: boolean): "open" | "closed" | "closed by settings" {
  if (accounts.signupsDisabled || accounts.loginsDisabled) return "closed by settings";
  return isClosed ? "closed" : "open";
}

export function overviewView(model: OverviewModel, page: PageContext): Page {
  const { version, health, pushes, mails, users, steps } = model;
  const { admin, formats } = page.messages;
  const { bytes, number } = formats;
  const link = (path: string, count: number) => <a href={pageHref(page, path)}>{number(count)}</a>;
  return (
    <AdminFrame page={page} current="overview" lead={admin.overviewLead}>
      <FormNotices state={model.state} />
      <Attention model={model} />
      <dl class="card facts">
        <Fact label={admin.users} value={link(adminPaths.users, users.total)} />
        <Fact label={admin.activeUsers} value={number(users.active)} />
        <Fact label={admin.livePushes} value={link(`${adminPaths.pushes}?state=active`, pushes.live)} />
        <Fact label={admin.endedPushes} value={link(`${adminPaths.pushes}?state=expired`, pushes.ended)} />
        <Fact label={admin.files} value={admin.filesOf({ count: pushes.files, size: bytes(pushes.fileBytes) })} />
        <Fact label={admin.databaseSize} value={bytes(health.databaseBytes)} />
        <Fact
          label={admin.diskFree}
          value={admin.diskOf({ free: bytes(health.diskFreeBytes), total: bytes(health.diskTotalBytes) })}
        />
        <Fact label={admin.version} ltr value={version} />
        {health.processes !== 1 && <Fact label={admin.processes} value={number(health.processes)} />}
        {mails.waiting > 0 && <Fact label={admin.mailsWaiting} value={link(adminPaths.jobs, mails.waiting)} />}
      </dl>
      <NextSteps steps={steps} />
    </AdminFrame>
  );
}

interface Trouble {
  readonly text: string;
  /** Where it is looked up; null: not on a page. */
  readonly path: string | null;
}

function troublesOf({ health, failures, outdatedNode }: OverviewModel, { messages }: PageContext): readonly Trouble[] {
  const { attention, diskLow } = messages.admin;
  const { bytes } = messages.formats;
  const { jobs, mails, deletions } = failures;
  const isDiskLow = health.diskFreeBytes < health.diskFloorBytes;
  const { securityRelease } = pinnedPrograms.node;
  const all: readonly (Trouble | false)[] = [
    !health.databaseAnswers && { text: attention.databaseSilent, path: null },
    isDiskLow && { text: diskLow({ floor: bytes(health.diskFloorBytes) }), path: null },
    jobs > 0 && { text: attention.jobs({ count: jobs }), path: adminPaths.jobs },
    mails > 0 && { text: attention.mails({ count: mails }), path: adminPaths.mails },
    deletions > 0 && { text: attention.deletions({ count: deletions }), path: adminPaths.jobs },
    outdatedNode !== null && {
      text: attention.node({ version: outdatedNode, release: securityRelease }),
      path: null,
    },
  ];
  return all.filter((trouble) => trouble !== false);
}

/** What an administrator has to do something about, or that there is nothing. */
function Attention({ model }: PartProps<OverviewModel>) {
  const page = usePage();
  const { attention } = page.messages.admin;
  const troubles = troublesOf(model, page);
  if (troubles.length === 0) {
    return <Notice tone="success" icon="check" text={attention.nothing} />;
  }
  return (
    <Notice tone="warning" icon="alert" heading={attention.heading}>
      <ul>
        {troubles.map(({ text, path }) => (
          <li key={text}>{path === null ? text : <a href={pageHref(page, path)}>{text}</a>}</li>
        ))}
      </ul>
    </Notice>
  );
}

interface Step {
  readonly title: string;
  readonly state: "done" | "open" | "check";
  readonly text: ComponentChildren;
  /** Where it is done or looked up; null: not on a page. */
  readonly path: string | null;
  /** What one click does about it. */
  readonly action?: ComponentChildren;
}

/** What an operator has to decide after the first start. A proxy and a backup cannot be recognized from here. */
function stepsOf(
  { baseUrl, proxies, sendsEmail, sendsAccountEmails, hasOtherUsers, signUp, engine }: StepsModel,
  page: PageContext,
): readonly Step[] {
  const { steps } = page.messages.admin;
  const settings = (name: string) => `${adminPaths.settings}?q=${name}`;
  return [
    {
      title: steps.baseUrl,
      state: baseUrl === null ? "open" : "done",
      text: baseUrl === null ? steps.baseUrlOpen : steps.baseUrlDone.parts({ url: <bdi dir="ltr">{baseUrl}</bdi> }),
      path: settings("PWP__OVERRIDE_BASE_URL"),
    },
    {
      title: steps.proxy,
      state: proxies.length === 0 ? "check" : "done",
      text:
        proxies.length === 0
          ? steps.proxyOpen
          : steps.proxyDone.parts({ networks: <bdi dir="ltr">{proxies.join(", ")}</bdi> }),
      path: settings("PWP__TRUSTED_PROXIES"),
    },
    {
      title: steps.email,
      ...emailStep(sendsEmail, sendsAccountEmails, steps),
      path: settings("PWP__MAIL"),
    },
    {
      title: steps.backup,
      state: "check",
      text: engine === "postgres" ? steps.backupPostgres : steps.backupCheck,
      path: null,
    },
    {
      title: steps.people,
      state: hasOtherUsers ? "done" : "open",
      text: hasOtherUsers ? steps.peopleDone : steps.peopleOpen,
      path: adminPaths.users,
    },
    signUpStep(signUp, page),
  ];
}

function emailStep(sendsEmail: boolean, sendsAccountEmails: boolean, steps: Messages["admin"]["steps"]) {
  if (!sendsEmail) return { state: "open", text: steps.emailOpen } as const;
  if (!sendsAccountEmails) return { state: "check", text: steps.emailLinks } as const;
  return { state: "done", text: steps.emailDone } as const;
}

function signUpStep(signUp: StepsModel["signUp"], page: PageContext): Step {
  const { steps } = page.messages.admin;
  const { signUp: title, signUpOpen, signUpClosed, signUpBySettings, closeSignUp, openSignUp } = steps;
  if (signUp === "closed by settings") {
    const path = `${adminPaths.settings}?q=PWP__DISABLE_SIGNUPS`;
    return { title, state: "done", text: signUpBySettings, path };
  }
  const isOpen = signUp === "open";
  const action = (
    <PostButton
      action={signUpSwitchPath}
      label={isOpen ? closeSignUp : openSignUp}
      look="small"
      name="sign_up"
      value={isOpen ? "closed" : "open"}
    />
  );
  return { title, state: isOpen ? "check" : "done", text: isOpen ? signUpOpen : signUpClosed, path: null, action };
}

/** Folded while nothing is known to be open: what only a person can check is not news. */
function NextSteps({ steps }: { readonly steps: StepsModel }) {
  const page = usePage();
  const { nextSteps, stepsDone } = page.messages.admin.steps;
  const all = stepsOf(steps, page);
  const done = all.filter(({ state }) => state === "done");
  return (
    <details class="card disclosure" open={all.some(({ state }) => state === "open")}>
      <summary class="line admin-group-title">
        <h2>{nextSteps}</h2>
      </summary>
      <Steps steps={all.filter(({ state }) => state !== "done")} />
      {done.length > 0 && (
        <details class="disclosure">
          <summary>{stepsDone({ count: done.length })}</summary>
          <Steps steps={done} />
        </details>
      )}
    </details>
  );
}

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const page = usePage();
  const { stepDone, stepOpen, stepCheck } = page.messages.admin.steps;
  const states = { done: stepDone, open: stepOpen, check: stepCheck };
  return (
    <ul class="admin-steps">
      {steps.map(({ title, state, text, path, action }) => (
        <li key={title}>
          <div>
            {path === null ? <strong>{title}</strong> : <a href={pageHref(page, path)}>{title}</a>}{" "}
            <span class={state === "done" ? "badge badge-active" : "badge"}>{states[state]}</span>
          </div>
          <p>{text}</p>
          {action}
        </li>
      ))}
    </ul>
  );
}
