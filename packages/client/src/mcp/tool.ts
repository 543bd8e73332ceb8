import type { SealpushClient } from "../client.ts";

/** What a tool answers to the model: plain data, without the secret of any push. */
export type ToolAnswer = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly input: { readonly type: "object"; readonly [key: string]: unknown };
  readonly isReadOnly: boolean;
  readonly run: (given: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<ToolAnswer>;
}

export interface ToolOptions {
  readonly client: SealpushClient;
  /** The folder whose files may be pushed, and in which secrets may be saved; undefined: none. */
  readonly files: string | undefined;
  /** Adds the tool that opens pushes, whose secrets then reach the model. */
  readonly showsSecrets: boolean;
  /** Seals the keys of requests, so that the model gets none. */
  readonly passphrase: string | undefined;
  /** Asks the person at the terminal, which the model does not see. Undefined: there is none. */
  readonly ask: ((question: string, visibility: "shown" | "hidden") => Promise<string>) | undefined;
}

/** JSON Schema of an object with these properties and no others. @param required those that must be given. */
export function objectSchema<Properties extends object>(
  required: readonly (keyof Properties)[],
  properties: Properties,
) {
  const wanted = required.length > 0 && { required };
  return { type: "object", additionalProperties: false, ...wanted, properties } as const;
}

export const pageSchema = {
  type: "integer",
  minimum: 1,
  maximum: 200,
  description: "The page of 50 entries. Default: 1.",
} as const;
