import { enableCounters } from "./parts/fields.ts";
import { enableFilePicker } from "./parts/files.ts";
import { enableGenerators, enablePassphraseSuggestions } from "./parts/generator.ts";
import { enableConcealButtons } from "./parts/preferences.ts";
import { randomBelowFrom } from "./parts/suggest.ts";

const randomBelow = randomBelowFrom((numbers) => crypto.getRandomValues(numbers));

enableConcealButtons();
enableCounters();
enableFilePicker();
enableGenerators(randomBelow);
enablePassphraseSuggestions(randomBelow);
