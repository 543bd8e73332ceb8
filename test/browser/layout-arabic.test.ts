import { describe } from "vitest";
import { testLayout } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

const site = openSite();

describe("layout and accessibility in Arabic", () => testLayout(site, "ar"));
