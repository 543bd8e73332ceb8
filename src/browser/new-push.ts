import { enableFieldChoice } from "./parts/field-choice.ts";
import { enableCounters, enableExpiry, sendByKeys } from "./parts/fields.ts";
import { enableFilePicker } from "./parts/files.ts";
import { enableGenerators, enablePassphraseSuggestions } from "./parts/generator.ts";
import { enableKindTabs } from "./parts/kinds.ts";
import { keepMoreOptionsCurrent } from "./parts/more-options.ts";
import { enableConcealButtons } from "./parts/preferences.ts";
import { enablePresets } from "./parts/presets.ts";
import { Sealing } from "./parts/sealing.ts";
import { keepTyped } from "./parts/send.ts";
import { randomBelowFrom } from "./parts/suggest.ts";

// Before the file picker: it must not send a file that is to be sealed.
const sealing = Sealing.enable();
const randomBelow = randomBelowFrom((numbers) => crypto.getRandomValues(numbers));

enableParts(document);
enableKindTabs(enableParts);
enablePresets();
enablePassphraseSuggestions(randomBelow);
keepMoreOptionsCurrent();
sendByKeys();
keepTyped(sealing);

/** What differs between the kinds of push. */
function enableParts(root: ParentNode): void {
  enableConcealButtons(root);
  enableCounters(root);
  enableExpiry(root);
  enableFieldChoice(root);
  enableFilePicker(root, sealing);
  enableGenerators(root, randomBelow);
  for (const element of root.querySelectorAll<HTMLElement>("[data-scripted]")) element.hidden = false;
}
