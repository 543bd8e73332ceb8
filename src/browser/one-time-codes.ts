import { enableOneTimeCodes } from "./parts/one-time-codes.ts";

enableOneTimeCodes(document);
