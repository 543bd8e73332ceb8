import { expect } from "vitest";

/** What both APIs answer for every push, in order; the values are those of a new push with the passphrase "open". */
export const commonAnswer = (urlToken: string) => ({
  expire_after_views: 5,
  expired: false,
  url_token: expect.stringMatching(/^[0-9a-z]{32}$/),
  deletable_by_viewer: true,
  retrieval_step: true,
  expired_on: null,
  passphrase: "open",
  created_at: "2026-01-15T12:00:00.000Z",
  updated_at: "2026-01-15T12:00:00.000Z",
  expire_after_days: 7,
  days_remaining: 7,
  views_remaining: 5,
  deleted: false,
  json_url: `http://localhost/p/${urlToken}.json`,
  html_url: `http://localhost/p/${urlToken}/r`,
});

export const commonKeys: readonly string[] = Object.keys(commonAnswer(""));
