/** A format that has been read, with the vocabulary that it constrains, for the thread that generates. */
export interface PreparedFormat {
  /** Equal for equal formats. */
  digest: string
  /** The grammar, as `v8.serialize` writes it. */
  grammar: Uint8Array
  /** The vocabulary, as `writeTokenTrie` writes it. Shared by all formats of a model. */
  vocabulary: Uint8Array
}
