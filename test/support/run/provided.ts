declare module "vitest" {
  export interface ProvidedContext {
    /** The URL of the service that hands out what the processes of one test run share. */
    readonly runService: string;
    /** The folder of the run where programs that tests start keep their compiled code. */
    readonly compileCache: string;
  }
}
