import { inject } from "vitest";
import { ImageLab } from "./lab.ts";

/** The lab of this run, in which the image is built. */
export const lab = new ImageLab(inject("imageLab"));

export const image = "sealpush:3.0.0";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One request from the network of the containers, over a new connection. */
export async function ask(url: string, options: readonly string[] = []): Promise<Answer> {
  const format = ["--write-out", "\n%{http_code}"];
  const output = await lab.inNetwork("curl", ["--silent", "--max-time", "20", ...format, ...options, url]);
  const end = output.lastIndexOf("\n");
  return { status: Number(output.slice(end + 1)), body: output.slice(0, end) };
}

/** Creates a text push that opens once. @returns its token */
export async function createPush(origin: string, payload: string, options: readonly string[] = []): Promise<string> {
  const fields = ["--data-urlencode", `password[payload]=${payload}`, "--data", "password[expire_after_views]=1"];
  const { status, body } = await ask(`${origin}/p.json`, [...fields, ...options]);
  if (status !== 201) throw new Error(`${status}: ${body}`);
  return JSON.parse(body).url_token;
}

/** @returns the payload; null if it is gone */
export async function openPush(origin: string, token: string, options: readonly string[] = []): Promise<string | null> {
  const { body } = await ask(`${origin}/p/${token}.json`, options);
  return JSON.parse(body).payload ?? null;
}
