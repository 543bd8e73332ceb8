import { dayMs, minuteMs, secondMs } from "../../base/clock.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { useMessages } from "../page.ts";
import { Checkbox } from "./fields.tsx";

/** Name and id of the box. */
export const stayField = "stay_signed_in";

interface StaySignedInProps {
  readonly checked: boolean;
  /** How long a session lasts without activity if the box is checked. */
  readonly idleSeconds: number;
}

export function StaySignedIn({ checked, idleSeconds }: StaySignedInProps) {
  const { signIn, formats } = useMessages();
  const idleMs = idleSeconds * secondMs;
  const time = idleMs % dayMs === 0 ? formats.timeSpan(idleMs / minuteMs) : formats.duration(idleMs);
  return <Checkbox id={stayField} label={signIn.stay} hint={signIn.stayHint({ time })} checked={checked} />;
}

export function staysSignedIn(form: Parameters<typeof textOf>[0]): boolean {
  return textOf(form, stayField) === "1";
}
