/** Limits of a grammar and of the work on it. */
export const limits = {
  /** Levels of nested patterns and expressions. */
  depth: 1000,
  /** Rules, expressions and patterns of a grammar, each part counted. */
  parts: 500_000,
  /** Parts of one pattern. */
  patternParts: 20_000,
  /** Items of a column: rules that may be open at one place of the text. */
  items: 50_000,
  /** Rules that are open at one place, each within the one before. */
  openRules: 100_000,
  /** Expressions visited until it is clear whether an intersection or complement matches anything. */
  search: 5000,
}
