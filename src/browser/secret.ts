import { enableClipboardClearing } from "./parts/clipboard.ts";
import { enableVeil } from "./parts/veil.ts";

enableVeil();
enableClipboardClearing();
