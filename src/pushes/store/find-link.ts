import type { LinkAddress } from "../../crypto/url-token.ts";
import type { ReadConnection } from "../../database/database.ts";
import { type DriverRow, sql } from "../../database/statement.ts";

/**
 * The statements that read a push by its link: one for links that contain the id, one for imported links. The check is a
 * condition of both, so that a wrong one costs what an unknown id costs.
 * @param select the statement that ends with the condition.
 */
export function selectByLink<Row extends DriverRow<Row>>(select: (condition: string) => string) {
  return {
    own: sql<[pushId: number, check: Buffer], Row>(select("WHERE id = ? AND link_check = ?")),
    imported: sql<[digest: Buffer, check: Buffer], Row>(
      select("WHERE id = (SELECT push_id FROM imported_links WHERE digest = ?) AND link_check = ?"),
    ),
  };
}

/** A text in the form of our url_tokens is looked up among the imported links, too: another server may have made it. */
export async function findByLink<Row extends DriverRow<Row>>(
  connection: Pick<ReadConnection, "one">,
  { own, imported }: ReturnType<typeof selectByLink<Row>>,
  link: LinkAddress,
): Promise<Row | undefined> {
  const { pushId, check } = link;
  return (await connection.one(own, pushId, check)) ?? (await connection.one(imported, link.importedDigest(), check));
}

const idByLink = selectByLink<{ readonly id: number }>((condition) => `SELECT id FROM pushes ${condition}`);

/** Whether a push that was created on this server has the link. */
export async function isOwnLink(connection: ReadConnection, { pushId, check }: LinkAddress): Promise<boolean> {
  return (await connection.one(idByLink.own, pushId, check)) !== undefined;
}

/** @param link may be that of another server. */
export async function isLinkTaken(connection: ReadConnection, link: LinkAddress): Promise<boolean> {
  return (await findByLink(connection, idByLink, link)) !== undefined;
}
