import type {StoredGrammar} from '../grammar/index.js'
import type {StoredTools} from './reply/tool-grammars.js'

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
