import { listChosenFiles } from "./parts/chosen-files.ts";
import { enableCounters } from "./parts/counter.ts";
import { enableGenerators, enablePassphraseSuggestions } from "./parts/generator.ts";
import { randomBelowFrom } from "./parts/random-below.ts";

const randomBelow = randomBelowFrom((numbers) => crypto.getRandomValues(numbers));

enableCounters();
listChosenFiles();
enableGenerators(randomBelow);
enablePassphraseSuggestions(randomBelow);
