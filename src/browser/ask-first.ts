import { askFirst } from "./parts/ask-first.ts";

askFirst();
