/** Rails notes the versions of a schema in it, and so does every Password Pusher. No version of ours has a table so named. */
export const tableOfOthers = "schema_migrations";

export const foreignDatabase =
  "The database that DATABASE_URL names holds the tables of another program: give this server one of its own. What a " +
  "Password Pusher has comes along by `sealpush import password-pusher`.";
