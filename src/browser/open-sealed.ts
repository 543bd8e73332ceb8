import { openSealed } from "./parts/open-sealed.ts";
import { openSealedLabels } from "./parts/sealed-labels.ts";

// The only script that decrypts: nothing else is in it, so that its hash changes with this code alone.
void openSealed();
openSealedLabels();
