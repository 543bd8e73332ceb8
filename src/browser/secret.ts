import { enableClipboardClearing } from "./parts/clipboard.ts";
import { enableFieldVeils, enableVeil } from "./parts/veil.ts";

enableVeil();
enableFieldVeils();
enableClipboardClearing();
