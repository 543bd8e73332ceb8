#!/usr/bin/env node
import { main } from "./command/command.ts";

await main(process.argv.slice(2));
