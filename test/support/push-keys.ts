/** The keys that both APIs return for every push, in order. */
export const commonKeys: readonly string[] = [
  "expire_after_views",
  "expired",
  "url_token",
  "deletable_by_viewer",
  "retrieval_step",
  "expired_on",
  "passphrase",
  "created_at",
  "updated_at",
  "expire_after_days",
  "days_remaining",
  "views_remaining",
  "deleted",
  "json_url",
  "html_url",
];
