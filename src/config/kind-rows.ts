import { setting } from "./setting.ts";
import { truth, wholeNumber } from "./value-type.ts";

const daysMax = 3650;
const viewsMax = 100_000;

/**
 * The rows that each kind of push has.
 * @param prefix as it stands in the names: `PWP__<prefix>__...`.
 * @param push the kind with its article, e.g. "a text push".
 */
export function kindRows(prefix: string, push: string, defaults: { readonly deletableDefault: "true" | "false" }) {
  const expiry = (limit: "DAYS" | "VIEWS", bound: "DEFAULT" | "MIN" | "MAX", doc: string, byDefault: string) =>
    setting({
      env: `PWP__${prefix}__EXPIRE_AFTER_${limit}_${bound}`,
      doc,
      type: wholeNumber(1, limit === "DAYS" ? daysMax : viewsMax),
      default: byDefault,
    });
  const option = (name: string, doc: string, byDefault: "true" | "false") =>
    setting({ env: `PWP__${prefix}__${name}`, doc, type: truth, default: byDefault });

  return {
    daysDefault: expiry("DAYS", "DEFAULT", `Days after which ${push} ends when nobody says how many.`, "7"),
    daysMin: expiry("DAYS", "MIN", "The fewest days that may be asked for.", "1"),
    daysMax: expiry("DAYS", "MAX", "The most days that may be asked for.", "90"),
    viewsDefault: expiry("VIEWS", "DEFAULT", `Views after which ${push} ends when nobody says how many.`, "5"),
    viewsMin: expiry("VIEWS", "MIN", "The fewest views that may be asked for.", "1"),
    viewsMax: expiry("VIEWS", "MAX", "The most views that may be asked for.", "100"),
    retrievalStepOffered: option(
      "ENABLE_RETRIEVAL_STEP",
      `Whether ${push} can have a retrieval step: a page with a button before the one that counts as a view.`,
      "true",
    ),
    retrievalStepDefault: option("RETRIEVAL_STEP_DEFAULT", "Whether it has one when nobody says.", "true"),
    deletableOffered: option(
      "ENABLE_DELETABLE_PUSHES",
      `Whether recipients can be allowed to delete ${push} before it ends.`,
      "true",
    ),
    deletableDefault: option(
      "DELETABLE_PUSHES_DEFAULT",
      "Whether they are allowed to when nobody says.",
      defaults.deletableDefault,
    ),
    blur: option("ENABLE_BLUR", "Whether pages show the payload blurred until it is clicked.", "true"),
  };
}
