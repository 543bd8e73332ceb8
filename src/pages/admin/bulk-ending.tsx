import type { ProtectedChange } from "../../accounts/accounts.ts";
import { hourMs } from "../../base/clock.ts";
import { textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import {
  type BulkEnding,
  type BulkEndingFilter,
  type BulkEndingPreview,
  describeBulkEnding,
  isRestricted,
  readEndingNetwork,
} from "../../pushes/pushes.ts";
import { changeOf, proofOffered, refusedChange } from "../factors/changes.ts";
import { ProofFields } from "../factors/proof.tsx";
import { List } from "../lists/list.tsx";
import { type Page, type PageContext, type PartProps, useMessages, usePage } from "../page.ts";
import { FormEnd } from "../parts/buttons.tsx";
import { Card } from "../parts/card.tsx";
import { fieldsOf, InputField, SelectField, TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "../take-form.ts";
import { AdminFrame, adminPaths, entryOf } from "./frame.tsx";

export const bulkEndingPath = `${adminPaths.pushes}/end`;

const mebibyte = 1024 ** 2;
const typedCharactersMax = 100;
const owners = ["all", "anonymous", "owned"] as const;

/** The form as it was typed. */
interface TypedFilter {
  readonly network: string;
  readonly olderHours: string;
  readonly largerMib: string;
  readonly owners: BulkEndingFilter["owners"];
}

type FilterProblems = Partial<Record<"network" | "olderHours" | "largerMib" | "all", string>>;

/** `GET /admin/pushes/end`: with a filter, how many pushes it matches. */
export function showBulkEnding(page: SignedInRequest): Promise<Reply> {
  const typed = typedFilter((name) => page.query(name));
  const isAsked = page.query("network") !== undefined;
  return renderBulkEnding(page, typed, isAsked ? untouched : null);
}

interface Sent {
  readonly typed: TypedFilter;
  readonly change: ProtectedChange;
}

const bulkEndingForm: FormDeclaration<SignedInRequest, Sent, "proof"> = {
  read: (fields, page) => ({ typed: typedFilter((name) => textOf(fields, name)), change: changeOf(page, fields) }),
  show: (page, { typed }, state) => renderBulkEnding(page, typed, state),
};

/**
 * `POST /admin/pushes/end`. What was destroyed cannot be restored, so the administrator has to prove it as a change of an own
 * factor. A job ends the pushes in the background.
 */
export const startBulkEnding = formHandler(bulkEndingForm, async (page, { typed, change }) => {
  const { accounts, pushes } = page.services;
  const { filter } = readFilter(typed, page.messages);
  if (filter === undefined) return refused({});
  const confirmation = await accounts.confirmChange(change);
  if (confirmation.outcome !== "proven") return refusedChange(page, confirmation);
  const entry = entryOf(page, "ended_pushes", describeBulkEnding(filter));
  await pushes.startBulkEnding(filter, page.actor, entry);
  return page.redirect(bulkEndingPath);
});

function typedFilter(value: (name: string) => string | undefined): TypedFilter {
  const typed = (name: string) => (value(name) ?? "").trim().slice(0, typedCharactersMax);
  return {
    network: typed("network"),
    olderHours: typed("older_hours"),
    largerMib: typed("larger_mib"),
    owners: owners.find((name) => name === value("owners")) ?? "all",
  };
}

function readFilter(typed: TypedFilter, { admin: { bulk }, problems: { range } }: Messages) {
  const problems: FilterProblems = {};
  const network = typed.network === "" ? "" : readEndingNetwork(typed.network);
  if (network === undefined) problems.network = bulk.badNetwork;
  const count = (name: "olderHours" | "largerMib") => {
    if (typed[name] !== "" && !/^\d{1,6}$/.test(typed[name])) problems[name] = range({ min: 0, max: 999_999 });
    return Number(typed[name]);
  };
  const filter: BulkEndingFilter = {
    network: network ?? "",
    olderThanMs: count("olderHours") * hourMs,
    largerThanBytes: count("largerMib") * mebibyte,
    owners: typed.owners,
  };
  if (Object.keys(problems).length > 0) return { problems };
  return isRestricted(filter) ? { problems, filter } : { problems: { all: bulk.unrestricted } };
}

async function renderBulkEnding(
  page: SignedInRequest,
  typed: TypedFilter,
  state: FormState<"proof"> | null,
): Promise<Reply> {
  const model = await bulkEndingModel(page, typed, state);
  const status = Object.keys(model.problems).length > 0 ? 422 : model.state.status;
  return page.renderForm(bulkEndingView, model, { status, path: bulkEndingPath });
}

type BulkEndingModel = Awaited<ReturnType<typeof bulkEndingModel>>;

async function bulkEndingModel(page: SignedInRequest, typed: TypedFilter, state: FormState<"proof"> | null) {
  const { pushes, clock } = page.services;
  const { problems, filter } = state !== null ? readFilter(typed, page.messages) : { problems: {} };
  const shown: FormState<"proof"> = state ?? untouched;
  return {
    typed,
    problems,
    /** undefined: no valid filter was sent yet. */
    preview: filter && (await pushes.previewBulkEnding(filter)),
    proof: await proofOffered(page),
    state: shown,
    latest: await pushes.latestBulkEndings(),
    nowMs: clock.now(),
  };
}

export function bulkEndingView(model: BulkEndingModel, page: PageContext): Page {
  const { admin } = page.messages;
  const { preview, latest } = model;
  return (
    <AdminFrame
      page={page}
      current="pushes"
      lead={admin.pushesLead}
      scripts={["passkeys.js"]}
      asksFirstAt={bulkEndingPath}
    >
      <FilterForm model={model} />
      {preview !== undefined && <Preview preview={preview} model={model} />}
      {latest.length > 0 && (
        <Card id="recent" heading={admin.bulk.recent}>
          <RequestTable model={model} />
        </Card>
      )}
    </AdminFrame>
  );
}

function FilterForm({ model: { typed, problems } }: PartProps<BulkEndingModel>) {
  const page = usePage();
  const { admin } = page.messages;
  const { bulk } = admin;
  const labels = { network: bulk.network, olderHours: bulk.olderHours, largerMib: bulk.largerMib };
  const field = fieldsOf(labels, typed, problems);
  const number = { type: "number", inputMode: "numeric", min: 0, max: 999_999, step: 1 } as const;
  return (
    <Card id="end_many" heading={bulk.endMany}>
      <p>{bulk.endManyLead}</p>
      {problems.all !== undefined && <Notice tone="danger" icon="alert" alert text={problems.all} />}
      <form class="form form-narrow" method="get" action={bulkEndingPath}>
        {page.localeAsked && <input type="hidden" name="locale" value={page.messages.locale.tag} />}
        <TextField {...field("network")} hint={bulk.networkHint} />
        <div class="pair">
          <InputField {...field("olderHours")} input={number} />
          <InputField {...field("largerMib")} input={number} />
        </div>
        <SelectField
          id="owners"
          label={bulk.whose}
          value={typed.owners}
          options={owners.map((name) => ({ value: name, label: ownersNames(page.messages)[name] }))}
        />
        <FormEnd label={bulk.preview} />
      </form>
    </Card>
  );
}

interface PreviewProps {
  readonly preview: BulkEndingPreview;
  readonly model: BulkEndingModel;
}

function Preview({ preview, model: { typed, proof, state } }: PreviewProps) {
  const { admin, formats } = useMessages();
  const { bulk } = admin;
  const { count, bytes, isComplete } = preview;
  if (count === 0 && isComplete) return <p role="status">{admin.noPushes}</p>;
  return (
    <section class="card" aria-labelledby="matching">
      {!isComplete && <p>{bulk.atLeast}</p>}
      <h2 id="matching">{bulk.matching({ count, size: formats.bytes(bytes) })}</h2>
      <PostForm class="form form-narrow" action={bulkEndingPath}>
        <input type="hidden" name="network" value={typed.network} />
        <input type="hidden" name="older_hours" value={typed.olderHours} />
        <input type="hidden" name="larger_mib" value={typed.largerMib} />
        <input type="hidden" name="owners" value={typed.owners} />
        <FormNotices state={state} />
        <p>{bulk.endManyText}</p>
        {proof !== null && <ProofFields id="proof" offered={proof} problem={state.problems.proof} />}
        <FormEnd label={bulk.endManyConfirm} look="danger" />
      </PostForm>
    </section>
  );
}

function RequestTable({ model: { latest, nowMs } }: PartProps<BulkEndingModel>) {
  const messages = useMessages();
  const { admin, formats } = messages;
  const { bulk } = admin;
  return (
    <List<BulkEnding>
      nowMs={nowMs}
      caption={{ headingId: "recent" }}
      rows={latest}
      columns={[
        {
          label: bulk.deletedPushes,
          value: ({ ended, endedBytes }) => bulk.progressOf({ count: ended, size: formats.bytes(endedBytes) }),
        },
        {
          label: messages.dashboard.state,
          narrow: "unlabelled",
          value: ({ finishedAt }) => (
            <span class={finishedAt === null ? "badge badge-active" : "badge"}>
              {finishedAt === null ? bulk.running : bulk.finished}
            </span>
          ),
        },
        { label: bulk.started, time: ({ requestedAt }) => requestedAt },
        { label: bulk.network, long: true, value: ({ network }) => network && <bdi dir="ltr">{network}</bdi> },
        {
          label: bulk.createdBefore,
          time: ({ createdBefore, requestedAt }) => (createdBefore < requestedAt ? createdBefore : null),
        },
        {
          label: bulk.largerMib,
          value: ({ largerThanBytes: bytes }) => bytes > 0 && formats.number(bytes / mebibyte),
        },
        { label: bulk.whose, long: true, value: (request) => ownersNames(messages)[request.owners] },
      ]}
      empty={null}
    />
  );
}

function ownersNames({ admin: { bulk } }: Messages): Readonly<Record<BulkEndingFilter["owners"], string>> {
  return { all: bulk.anyone, anonymous: bulk.anonymousOnly, owned: bulk.ownedOnly };
}
