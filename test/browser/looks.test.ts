import { describe } from "vitest";
import { testLooks } from "../support/looks.ts";
import { openSite } from "../support/site.ts";

const site = openSite();

describe("looks and accessibility in English", () => testLooks(site, "en"));
