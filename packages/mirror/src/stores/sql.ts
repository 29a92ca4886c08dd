export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Backslashes have no meaning: PostgreSQL needs `standard_conforming_strings`. */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
