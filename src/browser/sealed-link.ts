import { completeLink } from "./parts/complete-link.ts";
import { checkLinkFirst } from "./parts/key-in-link.ts";

void completeLink();
checkLinkFirst();
