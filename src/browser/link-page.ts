import { enableMailLinks, enableReplacingChoices, enableShareButtons, watchOpened } from "./parts/handover.ts";

enableShareButtons();
enableMailLinks();
enableReplacingChoices();
watchOpened();
