import { enableKeys } from "./parts/keys.ts";
import { forgetAtSignOut, forgetKeysOfGone } from "./parts/stored-keys.ts";

enableKeys();
forgetAtSignOut();
void forgetKeysOfGone();
