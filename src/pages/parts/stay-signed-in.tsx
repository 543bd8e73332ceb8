import { dayMs, minuteMs, secondMs } from "../../base/clock.ts";
import { textOf } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { Checkbox } from "./fields.tsx";

/** Name and id of the box. */
export const stayField = "stay_signed_in";

interface StaySignedInProps {
  readonly messages: Messages;
  readonly checked: boolean;
  /** How long a session lasts without activity if the box is checked. */
  readonly idleSeconds: number;
}

export function StaySignedIn({ messages: { signIn, formats }, checked, idleSeconds }: StaySignedInProps) {
  const idleMs = idleSeconds * secondMs;
  const time = idleMs % dayMs === 0 ? formats.timeSpan(idleMs / minuteMs) : formats.duration(idleMs);
  return (
    <Checkbox id={stayField} name={stayField} label={signIn.stay} hint={signIn.stayHint({ time })} checked={checked} />
  );
}

export function staysSignedIn(form: Parameters<typeof textOf>[0]): boolean {
  return textOf(form, stayField) === "1";
}
