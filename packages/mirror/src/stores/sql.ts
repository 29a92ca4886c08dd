/** Names and texts as they stand in statements, of all the stores. */

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** A backslash has no meaning in it: of PostgreSQL with `standard_conforming_strings`. */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
