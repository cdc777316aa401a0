/** The parts of `tokenizer.json` that are read here; the library reads the others. */
export interface TokenizerJson {
  model?: Partial<ModelJson> | null
  added_tokens?: {id?: unknown; content?: unknown; special?: unknown}[]
  decoder?: {type?: unknown; decoders?: {type?: unknown}[]} | null
}

/** `model` of `tokenizer.json`. */
export interface ModelJson {
  type: unknown
  vocab: unknown
  unk_token: unknown
  unk_id: number | null
  fuse_unk: boolean
  byte_fallback: boolean
  continuing_subword_prefix: string | null
  dropout: number | null
}

/** The tokens of a model: their names, bytes and text. */
export interface Vocabulary {
  /** The highest id of a token, plus 1. */
  readonly size: number
  readonly specials: readonly string[]
  isSpecial(name: string): boolean
  id(name: string): number | undefined
  /** The token that alone is a text; undefined if there is none. */
  tokenOf(text: string): number | undefined
  /** The bytes of a token; for a special token, the bytes of its name. */
  bytes(token: number): Buffer
  /** The text of tokens without the special ones; undefined if they do not stand for bytes, so that the library decodes. */
  readonly decode: ((tokens: readonly number[]) => string) | undefined
  /** Length of the longest token that is not special, bytes. Computed from the complete vocabulary. */
  readonly longestToken: number
  /** Whether tokens use GPT-2's byte alphabet, rather than text with `▁` for a space. */
  readonly usesBytes: boolean
}

/** @param config `tokenizer_config.json` */
export function vocabularyOf(json: TokenizerJson, config: Readonly<Record<string, unknown>>): Vocabulary {
  const added = (json.added_tokens ?? []).filter(isAdded)
  const names = tokenNames(json.model?.vocab)
  for (const {id, content} of added) names[id] = content
  const addedIds = new Map(added.map(({id, content}) => [content, id]))
  const specials = added.flatMap(({special, content}) => (special === true ? [content] : []))
  const isSpecial = new Set(specials)
  const types = [json.decoder, ...(json.decoder?.decoders ?? [])].map((decoder) => decoder?.type)
  const usesBytes = types.includes('ByteLevel')
  const idOf = idsOf(json.model?.vocab)
  const id = (name: string) => addedIds.get(name) ?? idOf(name)
  const decoding = {
    omitted: new Set([...isSpecial, ...[config.additional_special_tokens].flat()]),
    unknown: json.model?.unk_token,
    isAdded: (name: string) => addedIds.has(name),
  }
  return {
    size: names.length,
    specials,
    isSpecial: (name) => isSpecial.has(name),
    id,
    tokenOf: (text) => id(usesBytes ? inByteAlphabet(text) : text.replaceAll(' ', '▁')),
    bytes: (token) => tokenBytes(names[token] ?? '', usesBytes),
    decode: json.decoder?.type === 'ByteLevel' ? (tokens) => textOfBytes(tokens, names, decoding) : undefined,
    get longestToken() {
      const lengths = names.map((name) => (isSpecial.has(name) ? 0 : tokenBytes(name, usesBytes).length))
      return lengths.reduce((longest, length) => Math.max(longest, length), 1)
    },
    usesBytes,
  }
}

interface AddedToken {
  id: number
  content: string
  special?: unknown
}

const isAdded = (token: {id?: unknown; content?: unknown}): token is AddedToken =>
  Number.isSafeInteger(token.id) && typeof token.content === 'string'

/** The names of a vocabulary by id: it is an object of ids by name, or a list of names with scores. */
function tokenNames(vocab: unknown): string[] {
  if (Array.isArray(vocab)) return vocab.map(([name]: [string]) => name)
  const ids = (vocab ?? {}) as Readonly<Record<string, number>>
  const names: string[] = []
  for (const name in ids) names[ids[name]!] = name
  return names
}

/** Ids by name. */
export function idsOf(vocab: unknown): (name: string) => number | undefined {
  if (!Array.isArray(vocab)) {
    const ids = (vocab ?? {}) as Readonly<Record<string, number>>
    return (name) => (Object.hasOwn(ids, name) ? ids[name] : undefined)
  }
  let ids: Map<string, number> | undefined
  return (name) => {
    ids ??= new Map(tokenNames(vocab).map((each, id) => [each, id]))
    return ids.get(name)
  }
}

interface Decoding {
  omitted: ReadonlySet<unknown>
  unknown: unknown
  isAdded(name: string): boolean
}

const decoder = new TextDecoder('utf-8', {ignoreBOM: true})

/** Decodes bytes. Added tokens that are not special are text themselves. */
function textOfBytes(tokens: readonly number[], names: readonly string[], {omitted, unknown, isAdded}: Decoding) {
  let text = ''
  let bytes: number[] = []
  const flush = () => {
    if (bytes.length > 0) text += decoder.decode(Uint8Array.from(bytes))
    bytes = []
  }
  for (const token of tokens) {
    const name = names[token] ?? unknown
    if (typeof name !== 'string' || omitted.has(name)) continue
    if (isAdded(name)) {
      flush()
      text += name
    } else for (const letter of name) bytes.push(byteOfLetter.get(letter) ?? 0)
  }
  flush()
  return text
}

/** GPT-2's byte alphabet: printable bytes map to themselves, the others to the characters from U+0100 on, in order. */
const byteOfLetter: ReadonlyMap<string, number> = (() => {
  const printable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
  let next = 256
  return new Map(
    Array.from({length: 256}, (_, byte) => [String.fromCodePoint(printable(byte) ? byte : next++), byte] as const),
  )
})()

const letterOfByte = new Map([...byteOfLetter].map(([letter, byte]) => [byte, letter]))

/** ASCII characters that the alphabet maps to others. */
const mapped = /[\0-\x20\x7f]/g

export function inByteAlphabet(text: string): string {
  if (/^[\0-\x7f]*$/.test(text))
    return text.replace(mapped, (letter) => letterOfByte.get(letter.charCodeAt(0)) as string)
  return Array.from(Buffer.from(text), (byte) => letterOfByte.get(byte)).join('')
}

function tokenBytes(token: string, byteLevel: boolean): Buffer {
  if (byteLevel) {
    const bytes = Array.from(token, (letter) => byteOfLetter.get(letter))
    if (bytes.every((byte) => byte !== undefined)) return Buffer.from(bytes)
  }
  const byte = /^<0x([0-9A-F]{2})>$/i.exec(token)?.[1]
  return byte === undefined ? Buffer.from(token.replaceAll('▁', ' '), 'utf8') : Buffer.from(byte, 'hex')
}
