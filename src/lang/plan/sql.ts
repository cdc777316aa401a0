/** An identifier in double quotes. Names of the language hold letters, digits and underscores alone. */
export const quoted = (name: string): string => `"${name}"`
