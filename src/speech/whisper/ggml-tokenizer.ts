import {languageCodes} from '../text/languages.js'

/** Timestamps `<|0.00|>` to `<|30.00|>`. */
const timestampCount = 1501

/** Vocabulary size of the published English-only models, the smallest of all. */
const englishVocabulary = 51_864

interface SpecialToken {
  id: number
  content: string
}

/**
 * The special tokens of a published Whisper model by its vocabulary size. The number of tokens in the file does not
 * determine them, because it may include some special tokens. Empty for a smaller vocabulary, which no published model
 * has. English-only models have the tokens of 99 languages as well. Source of the order: whisper.cpp.
 */
function specialTokens(vocabSize: number): SpecialToken[] {
  if (vocabSize < englishVocabulary) return []
  const first = vocabSize === englishVocabulary ? 50_256 : 50_257
  const tasks = ['translate', 'transcribe', 'startoflm', 'startofprev', 'nospeech', 'notimestamps']
  const languages = vocabSize - first - 2 - tasks.length - timestampCount
  const times = Array.from({length: timestampCount}, (_, i) => (i * 0.02).toFixed(2))
  const from = (start: number, names: readonly string[]) =>
    names.map((name, i) => ({id: start + i, content: `<|${name}|>`}))
  return [
    ...from(first, ['endoftext', 'startoftranscript']),
    ...from(first + 2, languageCodes.slice(0, languages)),
    ...from(first + 2 + languages, [...tasks, ...times]),
  ]
}

/**
 * Creates a `tokenizer.json` for the tokens of a whisper.cpp file. The file has no merges; they are reconstructed from the
 * order of the tokens, each of which was merged from two earlier ones. Tokens like `<|name|>` are special at any position.
 */
export function tokenizerOfTokens(tokens: readonly Buffer[], vocabSize: number): object {
  const named = tokens.flatMap((bytes, id) =>
    /^<\|.*\|>$/.test(bytes.toString('latin1')) ? [{id, content: bytes.toString('utf8')}] : [],
  )
  const contents = new Set(named.map(({content}) => content))
  const special = [...named, ...specialTokens(vocabSize).filter(({content}) => !contents.has(content))]
  const ids = new Set(special.map(({id}) => id))
  // Special tokens are not text and have no merges.
  const texts = tokens.map((bytes, id) => (ids.has(id) ? '' : Array.from(bytes, (byte) => byteLetters[byte]).join('')))
  return {
    version: '1.0',
    added_tokens: special.map((token) => ({
      ...token,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: {type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true},
    post_processor: null,
    decoder: {type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true},
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(texts.flatMap((text, id) => (ids.has(id) ? [] : [[text, id] as const]))),
      merges: mergesOf(texts),
    },
  }
}

/**
 * The byte alphabet of byte-level tokenizers: printable bytes map to themselves, the others to characters from U+0100 on.
 * Source: the byte encoder of GPT-2.
 */
const byteLetters: readonly string[] = (() => {
  const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  let next = 256
  return Array.from({length: 256}, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++))
})()

/** The two earlier tokens from which each token was merged, in order. */
function mergesOf(texts: readonly string[]): [string, string][] {
  const ranks = new Map(texts.map((text, rank) => [text, rank] as const))
  return texts.flatMap((text, rank) => {
    const parts = text.length < 2 ? [] : mergedBelow(text, rank, ranks)
    return parts.length === 2 ? [parts as [string, string]] : []
  })
}

/** The parts of a text after applying all merges of a lower rank. */
function mergedBelow(text: string, limit: number, ranks: ReadonlyMap<string, number>): string[] {
  const parts = [...text]
  for (;;) {
    let best = -1
    let lowest = limit
    for (let i = 0; i + 1 < parts.length; i++) {
      const rank = ranks.get(`${parts[i]}${parts[i + 1]}`)
      if (rank !== undefined && rank < lowest) [best, lowest] = [i, rank]
    }
    if (best < 0) return parts
    parts.splice(best, 2, `${parts[best]}${parts[best + 1]}`)
  }
}
