import { textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { Checkbox } from "./fields.tsx";

/** Name and id of the box. */
export const stayField = "stay_signed_in";

export function StaySignedIn({ messages, checked }: { readonly messages: Messages; readonly checked: boolean }) {
  const { stay, stayHint } = messages.signIn;
  return <Checkbox id={stayField} name={stayField} label={stay} hint={stayHint} checked={checked} />;
}

export function staysSignedIn(form: Parameters<typeof textOf>[0]): boolean {
  return textOf(form, stayField) === "1";
}
