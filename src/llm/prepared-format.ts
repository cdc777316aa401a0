import type {StoredGrammar} from '../grammar/index.js'

/** A format that has been read, with the vocabulary that it constrains, for the thread that generates. */
export interface PreparedFormat {
  /** Equal for equal formats. */
  digest: string
  grammar: StoredGrammar
  /** The tools whose arguments are nested grammars of it. */
  tools?: StoredTools
  /** The vocabulary, as `writeTokenTrie` writes it. Shared by all formats of a model. */
  vocabulary: Uint8Array
}

/** The tools of a request for the thread that generates, which reads the grammar of a tool when a reply calls it. */
export interface StoredTools {
  /** Name of the format of calls. */
  format: string
  /** The characters that stand for special tokens in tags, by their names. */
  specials: Readonly<Record<string, string>>
  /** The tools, as `v8.serialize` writes them, in memory that threads share. */
  tools: Uint8Array
}
