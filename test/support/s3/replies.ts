export interface Arrived {
  readonly operation: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** `slowly`: in many small chunks. `cut`: the connection breaks in the middle. `unannounced`: it ends in the middle without an error. */
  readonly ends?: "well" | "cut" | "unannounced" | "slowly";
}

export function refuse(status: number, code: string): Reply {
  return xml(status, `<Error><Code>${code}</Code><Message>no</Message></Error>`);
}

export function xml(status: number, text: string): Reply {
  return {
    status,
    headers: { "content-type": "application/xml" },
    body: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`),
  };
}
