import {createHash} from 'node:crypto'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {serialize} from 'node:v8'
import {isErrorOf} from '../errors/index.js'
import {
  bytesOfMark,
  createTokenTrie,
  type Grammar,
  hasBytesOfMarks,
  LruCache,
  readTokenTrie,
  type Steps,
  type StoredGrammar,
  stepsInTurns,
  storeGrammar,
  type TokenBytes,
  trieFormat,
  writeTokenTrie,
} from '../grammar/index.js'
import {logger} from '../log/index.js'
import {specialsOf, type Tokenizer} from '../text/index.js'
import {derivedFiles, derivedFolder, type RunDirectory} from '../weights/index.js'
import type {PreparedFormat} from './prepared-format.js'
import {marksOf} from './special-marks.js'

interface GrammarReaderOptions {
  tokenizer: Tokenizer
  /** Tokens that end a reply; they are never text, nor have they marks. */
  ends: ReadonlySet<number>
  /** Path of the model, for the cache. */
  model: string
  /** Files from which tokenizer and end tokens are read. */
  sources: readonly string[]
  /** Cache folder. */
  folder: string
}

export const grammarOptions = (
  {path, tokenizer: file, config}: RunDirectory,
  tokenizer: Tokenizer,
  ends: ReadonlySet<number>,
): GrammarReaderOptions => ({
  tokenizer,
  ends,
  model: path,
  sources: [file, config],
  folder: derivedFolder(process.env),
})

/** Maximum memory of the grammars that are kept, bytes. */
const maxGrammars = 64 << 20
const trieFile = 'vocabulary.trie'

/** Prepares grammars of replies. Grammars are kept; the vocabulary is read or built once, at the first request. */
export class GrammarReader {
  readonly #options: GrammarReaderOptions
  readonly #grammars = new LruCache<StoredGrammar>(maxGrammars)
  #vocabulary: Promise<Uint8Array> | undefined

  constructor(options: GrammarReaderOptions) {
    this.#options = options
  }

  /**
   * The grammar that a recipe describes, which is made unless it is known.
   * @param recipe a value that can be cloned
   * @throws what `make` throws
   */
  async read(recipe: unknown, make: () => Steps<Grammar>): Promise<PreparedFormat> {
    const digest = createHash('sha256').update(serialize(recipe)).digest('hex')
    let grammar = this.#grammars.get(digest)
    if (grammar === undefined) {
      grammar = await stepsInTurns(storeGrammar(await stepsInTurns(make())))
      this.#grammars.set(digest, grammar, grammar.bytes)
    }
    this.#vocabulary ??= readVocabulary(this.#options)
    return {digest, grammar, vocabulary: await this.#vocabulary}
  }
}

/** The vocabulary from the cache; built if it is not there, or if the cache cannot be used. */
async function readVocabulary(options: GrammarReaderOptions): Promise<Uint8Array> {
  const {model, sources, folder, ends} = options
  const build = () => writeTokenTrie(createTokenTrie(tokensOf(options)))
  const recipe = `${trieFormat} with marks of 5 bytes, without ${[...ends].sort((a, b) => a - b)}`
  try {
    const entry = await derivedFiles({folder, kind: 'converted', model, sources, recipe}, (partial) =>
      writeFile(join(partial, trieFile), build()),
    )
    const stored = await readFile(join(entry, trieFile))
    if (readTokenTrie(stored) !== undefined) return shared(stored)
  } catch (error) {
    if (!isErrorOf(error, 'cache_unwritable')) throw error
    logger('llm').warn({err: error}, 'Cannot cache the vocabulary.')
  }
  return shared(build())
}

function tokensOf({tokenizer, ends}: GrammarReaderOptions): TokenBytes {
  const marks = marksOf(tokenizer, ends)
  const specials = specialsOf(tokenizer)
  return {
    size: tokenizer.size,
    bytes(token) {
      const mark = marks.get(token)
      if (mark !== undefined) return bytesOfMark(mark)
      if (ends.has(token) || specials.has(token)) return undefined
      const bytes = tokenizer.bytes(token)
      return hasBytesOfMarks(bytes) ? undefined : bytes
    },
  }
}

/** A copy in memory that threads share. */
function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}
