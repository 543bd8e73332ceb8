import { kindNames } from "../../base/push-kinds.ts";
import { textOf, wholeNumberOf } from "../../http/body/form-fields.ts";
import { wireName } from "../../http/errors.ts";
import { durationMinutes } from "../../http/push-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { Preset, PresetSettings, StoredPreset } from "../../pushes/pushes.ts";
import { accountTabPath, presetsPath } from "../account/path.ts";
import { AdminFrame, adminPaths, entryOf, getGroup, groupPath } from "../admin/frame.tsx";
import { Layout } from "../layout.tsx";
import { List } from "../lists/list.tsx";
import { type Page, type PageContext, type PartProps, pageHref, untranslated, useMessages } from "../page.ts";
import { ButtonLink, Submit } from "../parts/buttons.tsx";
import { Card, PageHeading } from "../parts/card.tsx";
import { Checkbox, fieldsOf, NumberField, SelectField, TextAreaField, TextField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { problemsAt } from "../parts/notice.tsx";
import { Confirm, PostForm } from "../parts/post-form.tsx";
import { optionFields, optionNames } from "../push-form/options.ts";
import type { Reply, SignedInRequest } from "../request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "../take-form.ts";
import {
  type PresetField,
  type PresetsTarget,
  presetFrom,
  readTyped,
  type TypedPreset,
  typedFrom,
  viewsRange,
} from "./typed-preset.ts";

type GetTarget = (page: SignedInRequest) => Promise<PresetsTarget>;

const groupPresetsPath = (groupId: number) => `${groupPath(groupId)}/presets`;

export const ownPresets: GetTarget = async ({ user }) => ({
  scope: { userId: user.id },
  path: presetsPath,
  group: undefined,
});

export const instancePresets: GetTarget = async () => ({ scope: "instance", path: adminPaths.presets, group: null });

export const groupPresets: GetTarget = async (page) => {
  const { id, name } = await getGroup(page);
  return { scope: { groupId: id }, path: groupPresetsPath(id), group: name };
};

const emptyForm = typedFrom({ name: "", settings: {}, isDefault: false, revision: 0 });

/** `GET` of the presets' page; `?edit=` has the name of the one in the form. */
export function showPresets(getTarget: GetTarget) {
  return async (page: SignedInRequest): Promise<Reply> => {
    const target = await getTarget(page);
    const edited = await findPreset(page, target, page.query("edit"));
    return renderPresets(page, target, edited === undefined ? emptyForm : typedFrom(edited), untouched);
  };
}

/** `POST` of the same: saves the preset of the form. */
export function savePreset(getTarget: GetTarget) {
  const form: FormDeclaration<SignedInRequest, TypedPreset, PresetField> = {
    read: readTyped,
    show: async (page, typed, state) => renderPresets(page, await getTarget(page), typed, state),
  };
  return formHandler(form, async (page, typed) => {
    const target = await getTarget(page);
    const texts = page.messages.presets;
    const { preset, problems } = presetFrom(typed, page.messages);
    if (Object.keys(problems).length > 0) return refused(problems);
    const was = typed.was === "" ? undefined : { name: typed.was, revision: typed.revision };
    const before = await findPreset(page, target, was?.name);
    const entry = trailEntry(page, target, before, preset);
    const outcome = await page.services.presets.save(target.scope, { ...preset, was }, entry);
    switch (outcome) {
      case "saved":
        return page.redirect(target.path);
      case "taken":
        return refused({ name: texts.taken });
      case "too_many":
        return refused({}, { refusal: texts.tooMany });
      case "changed_meanwhile":
      case "gone":
        return showBoth(page, target, typed);
    }
  });
}

/** Somebody else was quicker: the form with what was typed, beside what is stored. A preset that is gone can only be made again. */
async function showBoth(page: SignedInRequest, target: PresetsTarget, typed: TypedPreset): Promise<Reply> {
  const { presets: texts, admin } = page.messages;
  const stored = await findPreset(page, target, typed.was);
  if (stored === undefined) {
    return renderPresets(page, target, { ...typed, was: "" }, { ...untouched, status: 409, refusal: texts.gone });
  }
  const saved = admin.rulesPage.savedMeanwhile({ value: describePreset(stored, page.messages) });
  const state = { ...untouched, status: 409, refusal: `${texts.conflict} ${saved}` };
  return renderPresets(page, target, { ...typed, revision: stored.revision }, state);
}

/** `POST .../delete` */
export function deletePreset(getTarget: GetTarget) {
  return async (page: SignedInRequest): Promise<Reply> => {
    const form = await page.form();
    const target = await getTarget(page);
    const was = { name: textOf(form, "name"), revision: wholeNumberOf(form, "revision") };
    const entry = trailEntry(page, target, await findPreset(page, target, was.name), undefined);
    const isDeleted = await page.services.presets.remove(target.scope, was, entry);
    const stored = isDeleted ? undefined : await findPreset(page, target, was.name);
    return stored === undefined ? page.redirect(target.path) : showBoth(page, target, typedFrom(stored));
  };
}

async function findPreset(
  { services }: SignedInRequest,
  { scope }: PresetsTarget,
  name: string | undefined,
): Promise<StoredPreset | undefined> {
  if (name === undefined) return undefined;
  return (await services.presets.list(scope)).find((preset) => preset.name === name);
}

/** The entry of the administrators' trail; one's own presets have none. */
function trailEntry(
  page: SignedInRequest,
  { group }: PresetsTarget,
  before: Preset | undefined,
  after: Preset | undefined,
) {
  if (group === undefined) return undefined;
  const shown = (preset: Preset | undefined) => (preset === undefined ? "-" : describePreset(preset, page.messages));
  const whose = group === null ? "" : `${group}: `;
  const subject = `${whose}${shown(before)} → ${shown(after)}`;
  return entryOf(page, "changed_presets", subject);
}

async function renderPresets(
  page: SignedInRequest,
  target: PresetsTarget,
  typed: TypedPreset,
  state: FormState<PresetField>,
): Promise<Reply> {
  const presets = await page.services.presets.list(target.scope);
  const path = typed.was === "" ? target.path : `${target.path}?edit=${encodeURIComponent(typed.was)}`;
  return page.renderForm(presetsView, { target, presets, typed, state }, { status: state.status, path });
}

interface PresetsModel {
  readonly target: PresetsTarget;
  readonly presets: readonly StoredPreset[];
  readonly typed: TypedPreset;
  readonly state: FormState<PresetField>;
}

type Props = PartProps<PresetsModel>;

export function presetsView(model: PresetsModel, page: PageContext): Page {
  const { presets: text, profile } = page.messages;
  const { group, path, scope } = model.target;
  const content = (
    <>
      <List<StoredPreset>
        caption={text.heading}
        rows={model.presets}
        columns={[
          {
            label: text.name,
            long: true,
            value: ({ name }) => (
              <a href={pageHref(page, `${path}?edit=${encodeURIComponent(name)}`)} dir="auto" translate={untranslated}>
                {name}
              </a>
            ),
          },
          { label: text.settings, long: true, value: ({ settings }) => describeSettings(settings, page.messages) },
          { label: text.isDefault, value: ({ isDefault }) => (isDefault ? page.messages.admin.yes : "") },
        ]}
        actions={({ name, revision }) => (
          <div class="row-actions">
            <Confirm
              icon="trash"
              label={text.delete}
              accessibleLabel={text.deleteOne({ name })}
              explanation={text.deleteText}
              action={`${path}/delete`}
              group="action"
            >
              <input type="hidden" name="name" value={name} />
              <input type="hidden" name="revision" value={String(revision)} />
            </Confirm>
          </div>
        )}
        empty={<p>{text.none}</p>}
      />
      <PresetForm model={model} />
    </>
  );
  if (group === undefined) {
    return (
      <Layout page={page} title={text.heading} width="wide" asksFirstAt={path}>
        <PageHeading heading={text.heading} lead={text.own} />
        {content}
        <p>
          <a href={pageHref(page, accountTabPath("defaults"))}>{profile.heading}</a>
        </p>
      </Layout>
    );
  }
  return (
    <AdminFrame
      page={page}
      current={group === null ? "presets" : "groups"}
      {...(typeof scope === "object" &&
        "groupId" in scope &&
        group !== null && { group: { id: scope.groupId, name: group, current: "presets" } })}
      lead={group === null ? text.instance : text.ofGroup({ name: group })}
      asksFirstAt={path}
    >
      {content}
    </AdminFrame>
  );
}

/** What a preset says, in one line. */
function describeSettings(
  { kind, expireAfterMinutes, expireAfterViews, fields = [], ...options }: PresetSettings,
  messages: Messages,
): string {
  const { newPush, formats, kinds, profile, problems } = messages;
  const { on, off } = profile.defaults;
  const said = (field: string, problem: string) => problems.of({ field, problem });
  return [
    ...(kind === undefined ? [] : [kinds[kind]]),
    ...(expireAfterMinutes === undefined ? [] : [said(newPush.expiry, formats.timeSpan(expireAfterMinutes))]),
    ...(expireAfterViews === undefined ? [] : [said(newPush.views, formats.number(expireAfterViews))]),
    ...optionNames.flatMap((option) =>
      options[option] === undefined ? [] : [said(optionFields[option].label(messages), options[option] ? on : off)],
    ),
    ...(fields.length === 0 ? [] : [said(messages.presets.fields, fields.map(({ label }) => label).join(", "))]),
  ].join("; ");
}

/** Everything that the form of a preset can change, in one line. */
function describePreset({ name, settings, isDefault }: Preset, messages: Messages): string {
  const { presets: text } = messages;
  const parts = [name, describeSettings(settings, messages), isDefault ? text.isDefault : ""];
  return parts.filter((part) => part !== "").join("; ");
}

function PresetForm({ model }: Props) {
  const messages = useMessages();
  const { typed, state, target } = model;
  const { presets: text, admin, newPush, kinds, formats, profile } = messages;
  const open = { value: "", label: text.open };
  const labels = {
    name: text.name,
    kind: kinds.label,
    expireAfterMinutes: newPush.expiry,
    expireAfterViews: newPush.views,
    fields: text.fields,
  };
  const found = problemsAt(labels, state.problems, messages);
  const field = fieldsOf(labels, typed, state.problems);
  return (
    <Card
      id="preset_heading"
      heading={typed.was === "" ? text.make : text.change({ name: typed.was })}
      class="preset-card"
    >
      <FormNotices state={state} problems={found} />
      <PostForm class="form" action={target.path} autoComplete="off">
        <input type="hidden" name="was" value={typed.was} />
        <input type="hidden" name="revision" value={String(typed.revision)} />
        <TextField {...field("name")} required />
        <SelectField
          {...field("kind")}
          options={[open, ...kindNames.map((kind) => ({ value: kind, label: kinds[kind] }))]}
        />
        <SelectField
          {...field("expireAfterMinutes")}
          options={[
            open,
            ...durationMinutes.map((minutes) => ({ value: String(minutes), label: formats.timeSpan(minutes) })),
          ]}
        />
        <NumberField {...field("expireAfterViews")} range={viewsRange} placeholder={text.open} />
        {optionNames.map((option) => (
          <SelectField
            key={option}
            id={wireName(option)}
            label={optionFields[option].label(messages)}
            value={typed.options[option]}
            options={[open, { value: "1", label: profile.defaults.on }, { value: "0", label: profile.defaults.off }]}
          />
        ))}
        <TextAreaField {...field("fields")} hint={text.fieldsHint} rows={3} area={{ spellcheck: false }} />
        <Checkbox id="is_default" label={text.isDefault} hint={text.isDefaultHint} checked={typed.isDefault} />
        <div class="form-end">
          {typed.was !== "" && <ButtonLink to={target.path} label={text.make} />}
          <Submit label={admin.save} />
        </div>
      </PostForm>
    </Card>
  );
}
