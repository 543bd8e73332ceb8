import { enableCounters, enableExpiry, sendByKeys } from "./parts/fields.ts";
import { enableFilePicker } from "./parts/files.ts";
import { enableGenerators, enablePassphraseSuggestions } from "./parts/generator.ts";
import { keepMoreOptionsCurrent } from "./parts/more-options.ts";
import { enableConcealButtons } from "./parts/preferences.ts";
import { randomBelowFrom } from "./parts/suggest.ts";

const randomBelow = randomBelowFrom((numbers) => crypto.getRandomValues(numbers));

enableConcealButtons();
keepMoreOptionsCurrent();
sendByKeys();
enableCounters();
enableExpiry();
enableFilePicker();
enableGenerators(randomBelow);
enablePassphraseSuggestions(randomBelow);
