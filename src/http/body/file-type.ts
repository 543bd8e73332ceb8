import mime from "mime";

const unknownType = "application/octet-stream";

/** A type and a subtype (RFC 9110, 8.3.1). */
const mediaType = /^[a-z0-9!#$%&'*+.^_`|~-]+\/[a-z0-9!#$%&'*+.^_`|~-]+$/;

/**
 * The declared type of a file; "": none. If the sender declared none, or something that is no media type, or did not know it,
 * the type that the name implies.
 */
export function typeOfFile(filename: string, declared: string): string {
  const type = declared.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (mediaType.test(type) && type !== unknownType) return type;
  // As a path, a name without a dot has no extension.
  return mime.getType(`/${filename}`) ?? unknownType;
}
