/** Tags between which a model writes what it thinks. */
export interface ThinkingTags {
  readonly open: string
  readonly close: string
  /** Thinking without a text, which turns it off. */
  readonly empty: string
}

/** How a reply consists of thinking, text and calls, for its reader. Special tokens are written by their names. */
export interface ReplyLayout {
  /** The characters by which the text of the engine has special tokens, by their names. */
  specials: Readonly<Record<string, string>>
  thinking?: ThinkingTags
  /** Whether the prompt ends within the thinking. */
  isThinking: boolean
  /** What precedes text. */
  content: string
  /** Name of the format of calls. */
  calls?: string
}

/** Replaces the names of special tokens in a tag by the characters that stand for them. */
export function marked(tag: string, specials: Readonly<Record<string, string>>): string {
  const names = Object.keys(specials).toSorted((a, b) => b.length - a.length)
  return names.reduce((text, name) => text.replaceAll(name, specials[name] as string), tag)
}
