import { forgetAtSignOut, forgetKeysOfGone } from "./parts/stored-keys.ts";

forgetAtSignOut();
void forgetKeysOfGone();
