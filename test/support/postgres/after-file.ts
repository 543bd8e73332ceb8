import { afterAll } from "vitest";
import { giveBackAll } from "./database.ts";

// Vitest runs this file for each test file, also where many share the modules of one process.
afterAll(giveBackAll);
