import { expect } from "vitest";

export const metricsToken = "canary-token-of-the-scraper";
export const metricsOn = { PWP__METRICS__ENABLED: "true", PWP__METRICS__TOKEN: metricsToken };

/** Series as they are written (`name{labels}`), with their values. */
export type Series = ReadonlyMap<string, number>;

export function scrape(origin: string): Promise<Response> {
  return fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
}

export async function readSeries(origin: string): Promise<Series> {
  const answer = await scrape(origin);
  expect(answer.status).toBe(200);
  return seriesIn(await answer.text());
}

/** Prometheus' text format, version 0.0.4. */
export function seriesIn(text: string): Series {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))] as const;
    }),
  );
}
