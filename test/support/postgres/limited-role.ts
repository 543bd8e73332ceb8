import pg from "pg";
import { onTestFinished } from "vitest";

/** @returns the same database's address for a role with the rights of its user and a limited number of connections. */
export async function limitConnections(url: string, connectionsMax: number): Promise<string> {
  const limited = new URL(url);
  const { username } = limited;
  limited.username = `limited_${crypto.randomUUID().replaceAll("-", "")}`;
  await ask(url, `CREATE ROLE ${limited.username} LOGIN CONNECTION LIMIT ${connectionsMax} IN ROLE ${username}`);
  onTestFinished(() => ask(url, `DROP ROLE ${limited.username}`));
  return limited.href;
}

async function ask(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
