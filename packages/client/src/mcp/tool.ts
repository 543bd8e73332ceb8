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
  /** The folder whose files may be pushed; undefined: none. */
  readonly files: string | undefined;
  /** Adds the tool that opens pushes, whose secrets then reach the model. */
  readonly showsSecrets: boolean;
  /** Seals the keys of requests, so that the model gets none. */
  readonly passphrase: string | undefined;
}

export const pageSchema = {
  type: "integer",
  minimum: 1,
  maximum: 200,
  description: "The page of 50 entries. Default: 1.",
} as const;
