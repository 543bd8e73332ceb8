import { textOf, wholeNumberOf } from "../../http/body/form-fields.ts";
import type { Preset, StoredPreset } from "../../pushes/pushes.ts";
import { presetsPath } from "../account/path.ts";
import { adminPaths, entryOf, getGroup, groupPath } from "../admin/frame.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import {
  type FormDeclaration,
  type FormHandler,
  type FormState,
  formHandler,
  refused,
  untouched,
} from "../take-form.ts";
import {
  type PresetField,
  type PresetsTarget,
  presetFrom,
  readTyped,
  type TypedPreset,
  typedFrom,
} from "./typed-preset.ts";
import { describePreset, presetsView } from "./view.tsx";

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
export function savePreset(getTarget: GetTarget): FormHandler<SignedInRequest> {
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
