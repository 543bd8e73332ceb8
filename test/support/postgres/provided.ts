declare module "vitest" {
  export interface ProvidedContext {
    /** The URL of the service that hands out PostgreSQL databases. */
    readonly databaseService: string;
  }
}
