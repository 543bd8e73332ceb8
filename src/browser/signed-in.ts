import { enableKeys } from "./parts/keys.ts";
import { forgetAtSignOut, forgetKeysOfGone } from "./parts/stored-keys.ts";
import { watchStates } from "./parts/watch-states.ts";

enableKeys();
watchStates();
forgetAtSignOut();
void forgetKeysOfGone();
