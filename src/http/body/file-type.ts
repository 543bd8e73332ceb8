import mime from "mime";

const unknownType = "application/octet-stream";

/** The declared type of a file; "": none. If the sender declared none or did not know it, the type that the name implies. */
export function typeOfFile(filename: string, declared: string): string {
  const type = declared.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type !== "" && type !== unknownType) return type;
  // As a path, a name without a dot has no extension.
  return mime.getType(`/${filename}`) ?? unknownType;
}
