/** A column of values that a master key seals, as data: a rotation of keys seals them anew without knowing the room. */
export interface SealedColumn {
  readonly table: string;
  /** Its primary key: a number or bytes. */
  readonly idColumn: string;
  readonly sealedColumn: string;
  /** The context that the value of a row was sealed with. */
  contextOf(id: number | Buffer): string;
}
