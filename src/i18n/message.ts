/** A message with placeholders, for example `Message<{ email: string; count: number }>`. */
export interface Message<Values extends Readonly<Record<string, string | number>>> {
  (values: Readonly<Values>): string;
  /** The message in pieces, for text values that are elements. */
  parts<Piece>(
    values: {
      readonly [Name in keyof Values]: Values[Name] extends number ? number : string | Piece;
    },
  ): readonly (string | Piece)[];
}
