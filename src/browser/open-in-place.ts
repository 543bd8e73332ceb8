import { openInPlace } from "./parts/open-in-place.ts";

openInPlace();
