import pg from "pg";
import type { Value } from "../../../src/database/statement.ts";
import type { Run } from "./recording.ts";

/** A custom or a generic plan: the server may choose either after five executions of a prepared statement. */
export type PlanMode = "force_custom_plan" | "force_generic_plan";

/** One step of a plan. Source: PostgreSQL's manual, "EXPLAIN", format JSON. */
export interface PlanNode {
  readonly kind: string;
  readonly table: string | undefined;
  readonly index: string | undefined;
  /** Pages read, including those of its children; 0 for a statement that writes, which is not executed. */
  readonly pages: number;
}

/** Plans the statement as a prepared one, as the engine does; one that reads is executed. @returns its steps, topmost first. */
export async function explain(
  client: pg.Client,
  { text, parameters }: Run,
  mode: PlanMode,
): Promise<readonly PlanNode[]> {
  const reads = /^\s*SELECT\b/.test(text) && !/\bFOR UPDATE\b/.test(text);
  await client.query(`SET plan_cache_mode = ${mode}`);
  await client.query(`PREPARE explained AS ${text}`);
  const given = parameters.length === 0 ? "" : `(${parameters.map(literal).join(", ")})`;
  const options = reads ? "ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON" : "FORMAT JSON";
  const { rows } = await client.query(`EXPLAIN (${options}) EXECUTE explained${given}`);
  await client.query("DEALLOCATE explained");
  return nodesOf(rows[0]["QUERY PLAN"][0].Plan);
}

interface RawNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly RawNode[];
}

function nodesOf(node: RawNode): PlanNode[] {
  const self = {
    kind: node["Node Type"],
    table: node["Relation Name"],
    index: node["Index Name"],
    pages: (node["Shared Hit Blocks"] ?? 0) + (node["Shared Read Blocks"] ?? 0),
  };
  return [self, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function literal(value: Value): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  return Buffer.isBuffer(value) ? `'\\x${value.toString("hex")}'` : pg.escapeLiteral(value);
}
