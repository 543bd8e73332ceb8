/**
 * What the start needs of node:http. An `import` of that module reads all its properties, one of which loads the client of `fetch`: a
 * twentieth of the start.
 */
export const { createServer, ServerResponse } = process.getBuiltinModule("node:http");
