import "./workers.test.ts";
