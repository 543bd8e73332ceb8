import { enableCounters, listChosenFiles } from "./parts/fields.ts";
import { enableGenerators, enablePassphraseSuggestions } from "./parts/generator.ts";
import { randomBelowFrom } from "./parts/suggest.ts";

const randomBelow = randomBelowFrom((numbers) => crypto.getRandomValues(numbers));

enableCounters();
listChosenFiles();
enableGenerators(randomBelow);
enablePassphraseSuggestions(randomBelow);
