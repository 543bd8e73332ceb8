declare module "vitest" {
  export interface ProvidedContext {
    /** Where the test run hands out databases of PostgreSQL. */
    readonly databaseDesk: string;
  }
}
