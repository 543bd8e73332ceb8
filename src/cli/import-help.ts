export const importHelp = `
Stop Password Pusher first: what is viewed or changed there during the run is not seen here. A server of this installation
may run meanwhile or not. The command can be run again at any time: it goes on where it stopped, brings nothing twice,
tries again what could not be read, and fills what came in part. Settings of this installation come from the environment,
as for the server. See docs/migrating-from-password-pusher.md.

Exit codes: 0 everything came along, in this run or before; 1 refused, failed or interrupted; 2 the command line or a setting
is wrong, keys that open nothing among them; 3 the run came to its end, and what the report names did not come along whole.`;
