import { isArmored } from "@sealpush/age/armor";

/** Whether this name or note is sealed for the key in the link, so that the server cannot read it. */
export function isSealedLabel(label: string | null | undefined): boolean {
  // Other servers leave labels out.
  return typeof label === "string" && isArmored(label);
}
