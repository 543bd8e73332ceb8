import { makeRequestKey } from "./parts/make-request.ts";

makeRequestKey();
