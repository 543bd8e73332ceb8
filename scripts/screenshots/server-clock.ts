import { readFileSync } from "node:fs";

/** A file with the number of milliseconds that the clock of the server is behind; `moveIn` writes it. */
const file = process.env.CLOCK_FILE ?? "";
const now = Date.now.bind(Date);
Date.now = () => now() - Number(readFileSync(file, "utf8"));
