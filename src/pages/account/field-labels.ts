import { type KindName, kindNames } from "../../base/push-kinds.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { AccountField } from "./model.ts";

const kindFields = ["days", "views", "retrieval_step", "deletable_by_viewer"] as const;
const fieldsOf = (kind: KindName) => kindFields.map((name) => `${kind}_${name}` as const);

/** In the order of the page. */
export const accountFields: readonly AccountField[] = [
  ...(["email_confirmation", "email", "email_password", "current_password", "new_password", "first_kind"] as const),
  ...kindNames.flatMap(fieldsOf),
  ...(["language", "delete_password"] as const),
];

/** The label that stands at the field, and where there are several alike, what it belongs to. */
export function labelOf(field: AccountField, { profile, newPush, kinds, problems }: Messages): string {
  switch (field) {
    case "email_confirmation":
      return profile.email.confirmation.send;
    case "email":
      return profile.email.new;
    case "email_password":
    case "delete_password":
      return profile.again.password;
    case "current_password":
      return profile.password.current;
    case "new_password":
      return profile.password.new;
    case "first_kind":
      return profile.defaults.first;
    case "language":
      return profile.language.label;
  }
  const labels = {
    days: newPush.days,
    views: newPush.views,
    retrieval_step: newPush.retrievalStep,
    deletable_by_viewer: newPush.deletable,
  };
  const kind = kindNames.find((name) => field.startsWith(`${name}_`)) ?? "text";
  const name = kindFields.find((found) => field === `${kind}_${found}`) ?? "days";
  return problems.of({ field: kinds[kind], problem: labels[name] });
}
