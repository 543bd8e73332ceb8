import { focusFirstField } from "./parts/focus-first-field.ts";
import { enableKeys } from "./parts/keys.ts";
import { enableMenus } from "./parts/menus.ts";
import { forgetAtSignOut, forgetKeysOfGone } from "./parts/stored-keys.ts";
import { watchStates } from "./parts/watch-states.ts";

enableKeys();
enableMenus();
watchStates();
forgetAtSignOut();
void forgetKeysOfGone();
focusFirstField();
