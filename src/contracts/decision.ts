/**
 * The decision of a person: true is yes, false is no. Everything else, such as 0, [] or the text "false", is undefined: it
 * decides nothing, and must be refused.
 */
export const clearDecision = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)

const words: Readonly<Record<string, boolean>> = {y: true, yes: true, n: false, no: false}

/** The decision that a person typed at a prompt: y, yes, n or no. An empty line decides nothing. */
export const typedDecision = (line: string | undefined): boolean | undefined =>
  clearDecision(words[line?.trim().toLowerCase() ?? ''])
