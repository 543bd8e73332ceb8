/** The reference of one version of the API in readable form. The API builds it, and the help pages show it. */
export interface ApiReference {
  readonly title: string;
  readonly description: string;
  readonly endpoints: readonly ReferenceEndpoint[];
}

export interface ReferenceEndpoint {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Further paths that serve the same endpoint. */
  readonly alsoAt: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly token: "ignored" | "optional" | "required";
  /** The scope that a token needs; null: none. */
  readonly scope: string | null;
  /** `type`: path, query or header. */
  readonly parameters: readonly ReferenceField[];
  /** The object in the body that contains the fields; null: the body itself. */
  readonly wrapper: string | null;
  readonly fields: readonly ReferenceField[];
  readonly answers: readonly { readonly status: string; readonly description: string; readonly keys: string }[];
}

export interface ReferenceField {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}
