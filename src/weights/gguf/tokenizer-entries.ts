import {isDeepStrictEqual} from 'node:util'
import {counted, SvcError} from '../../errors/index.js'
import type {Declarations} from '../declarations.js'
import {entryValue, type GgufEntry} from './entries.js'
import {sampling} from './sampling.js'
import {bytePairName, tokenizerOf, tokenTypes} from './tokenizer.js'

/** What a model directory says about its text. */
export interface TextSource {
  /** The file with the tokenizer. */
  file: string
  /** As `tokenizer.json`. */
  json: TokenizerJson
  declarations: Declarations
  /** Rows of the embedding. */
  vocabSize: number
}

export interface TokenizerJson {
  added_tokens?: readonly AddedToken[]
  normalizer?: Part | null
  pre_tokenizer?: Part | null
  post_processor?: PostProcessor | null
  model?: {
    type?: string
    vocab?: Readonly<Record<string, number>>
    merges?: readonly (string | readonly [string, string])[]
    unk_token?: string | null
    byte_fallback?: boolean
    ignore_merges?: boolean
  }
}

interface AddedToken {
  id: number
  content: string
  special?: boolean
  lstrip?: boolean
  rstrip?: boolean
  single_word?: boolean
}

interface Part {
  type?: unknown
  normalizers?: readonly Part[]
  [key: string]: unknown
}

interface PostProcessor {
  type?: unknown
  single?: readonly {SpecialToken?: {id: string}; Sequence?: object}[]
  processors?: readonly PostProcessor[]
}

type Entries = Record<string, GgufEntry>

/**
 * The metadata of a tokenizer, its settings, the chat template and the sampling. The tokenizer that is read from it is compared
 * with the original one.
 * @throws gguf_inexpressible
 */
export function tokenizerEntries(source: TextSource): {entries: Entries; warnings: string[]} {
  const {file, json, declarations} = source
  const {model = {}, added_tokens: added = []} = json
  if (model.type !== 'BPE') throw inexpressible(file, `the tokenizer model ${model.type}`)
  const isPieces = model.byte_fallback === true
  const names = namesOf(source)
  const kind = isPieces ? pieces(source, names) : bytePairs(source)
  const ends = endsOf(declarations, names)
  const around = surroundings(json.post_processor ?? {})
  const ids = {...specialIds(declarations, names), ...idOf('bos', around.before, names), ...ends.ids}
  const entries: Entries = {
    ...kind,
    'tokenizer.ggml.tokens': {texts: names},
    'tokenizer.ggml.token_type': {integers: typesOf(names, json)},
    ...Object.fromEntries(Object.entries(ids).map(([name, id]) => [`tokenizer.ggml.${name}_token_id`, {u32: id}])),
    'tokenizer.ggml.add_bos_token': {flag: around.before !== undefined},
    'tokenizer.ggml.add_eos_token': {flag: around.after !== undefined},
    ...textEntries(declarations),
  }
  requireSame(source, entries)
  return {entries, warnings: [...ends.warnings, ...templateWarnings(declarations), ...spaceWarnings(json, added)]}
}

const inexpressible = (file: string, feature: string) => new SvcError('gguf_inexpressible', {file, feature})

/** The tokens by id; those that the embedding has, but not the vocabulary, get names of their own. */
function namesOf({file, json: {model, added_tokens: added = []}, vocabSize}: TextSource): string[] {
  const names: string[] = []
  for (const [name, id] of Object.entries(model?.vocab ?? {})) names[id] = name
  for (const {id, content} of added) names[id] = content
  if (names.length > vocabSize)
    throw inexpressible(file, `${counted(names.length, 'token')} for an embedding of ${counted(vocabSize, 'row')}`)
  return Array.from({length: vocabSize}, (_, id) => names[id] ?? `[PAD${id}]`)
}

function typesOf(names: readonly string[], {model, added_tokens: added = []}: TokenizerJson): number[] {
  const {unknown, control, userDefined, unused, byte, normal} = tokenTypes
  const isPieces = model?.byte_fallback === true
  const vocab = new Set(Object.keys(model?.vocab ?? {}))
  const special = new Map(added.map(({content, special = false}) => [content, special]))
  return names.map((name) => {
    if (isPieces && name === model?.unk_token) return unknown
    if (special.has(name)) return special.get(name) ? control : userDefined
    if (!vocab.has(name)) return unused
    return isPieces && /^<0x[0-9A-F]{2}>$/.test(name) ? byte : normal
  })
}

function bytePairs({file, json: {model, normalizer, pre_tokenizer: pre}}: TextSource): Entries {
  const name = bytePairName({pre, normalizer, wholeWords: model?.ignore_merges === true})
  if (name === undefined) throw inexpressible(file, 'a pre-tokenizer or normalizer of its own')
  return {
    'tokenizer.ggml.model': {text: 'gpt2'},
    'tokenizer.ggml.pre': {text: name},
    'tokenizer.ggml.merges': {
      texts: (model?.merges ?? []).map((pair) => (typeof pair === 'string' ? pair : pair.join(' '))),
    },
  }
}

/** Tokens that an earlier merge makes have a higher score, and those that none makes a lower one. */
function pieces({file, json: {model, normalizer, pre_tokenizer: pre}}: TextSource, names: readonly string[]): Entries {
  const merges = (model?.merges ?? []).map((pair) => (typeof pair === 'string' ? pair.replace(' ', '') : pair.join('')))
  const order = new Map([...new Set(merges)].map((token, i) => [token, i]))
  const prefixes = prefixesOf(normalizer, pre)
  if (prefixes === undefined) throw inexpressible(file, 'a pre-tokenizer or normalizer of its own')
  return {
    'tokenizer.ggml.model': {text: 'llama'},
    'tokenizer.ggml.pre': {text: 'default'},
    'tokenizer.ggml.scores': {floats: names.map((name) => -(order.get(name) ?? order.size))},
    'tokenizer.ggml.add_space_prefix': {flag: prefixes},
  }
}

/** Whether a text starts with a space; undefined for rules that have no name in the metadata. */
function prefixesOf(normalizer: Part | null | undefined, pre: Part | null | undefined): boolean | undefined {
  const rules = normalizer == null ? [] : normalizer.type === 'Sequence' ? (normalizer.normalizers ?? []) : [normalizer]
  const types = rules.map(({type}) => type).join()
  if (pre == null) return types === 'Prepend,Replace' ? true : types === 'Replace' ? false : undefined
  // Gemma splits at spaces that its normalizer has replaced, so never.
  if (pre.type === 'Split' && types === 'Replace') return false
  if (pre.type !== 'Metaspace' || types !== '') return undefined
  return (pre.prepend_scheme ?? (pre.add_prefix_space === false ? 'never' : 'always')) !== 'never'
}

/** The tokens before and after a text. */
function surroundings({type, single = [], processors = []}: PostProcessor): {before?: string; after?: string} {
  if (type === 'Sequence') return Object.assign({}, ...processors.map(surroundings))
  if (type !== 'TemplateProcessing') return {}
  const [before, after] = [single[0]?.SpecialToken?.id, single.at(-1)?.SpecialToken?.id]
  return {...(before === undefined ? {} : {before}), ...(after === undefined ? {} : {after})}
}

const idOf = (key: string, token: unknown, names: readonly string[]): Record<string, number> => {
  const id = names.indexOf(textOf(token) ?? '')
  return id === -1 ? {} : {[key]: id}
}

/** A token is a text, or an object with it. */
const textOf = (token: unknown): string | undefined => {
  const content = typeof token === 'string' ? token : (token as {content?: unknown} | null | undefined)?.content
  return typeof content === 'string' && content !== '' ? content : undefined
}

const specialIds = ({tokenizer}: Declarations, names: readonly string[]): Record<string, number> => ({
  ...idOf('bos', tokenizer.bos_token, names),
  ...idOf('eos', tokenizer.eos_token, names),
  ...idOf('unknown', tokenizer.unk_token, names),
  ...idOf('padding', tokenizer.pad_token, names),
})

/** The tokens that end a reply; the metadata has three names for them. */
function endsOf({tokenizer, generation}: Declarations, names: readonly string[]) {
  const declared = [generation.eos_token_id ?? []].flat().filter((id) => typeof id === 'number')
  const own = idOf('eos', tokenizer.eos_token, names).eos
  const ids = [...new Set([...(own === undefined ? [] : [own]), ...declared])]
  const [eos, eot, eom, ...others] = ids
  return {
    ids: Object.fromEntries(Object.entries({eos, eot, eom}).filter(([, id]) => id !== undefined)) as Record<
      string,
      number
    >,
    warnings: others.length === 0 ? [] : [`The GGUF file names only three tokens that end a reply, of ${ids.length}.`],
  }
}

interface NamedTemplate {
  name?: unknown
  template?: unknown
}

/** The template of a list that is used without tools. */
function templateOf({template}: Declarations): string | undefined {
  const declared = template?.declared
  const named = Array.isArray(declared)
    ? (declared as readonly NamedTemplate[])
    : [{name: 'default', template: declared}]
  const text = named.find(({name}) => name === 'default')?.template
  return typeof text === 'string' ? text : undefined
}

const templateWarnings = ({template}: Declarations): string[] =>
  Array.isArray(template?.declared) && template.declared.length > 1
    ? ['The GGUF file has only the default chat template.']
    : []

/** The chat template and the sampling that the publisher recommends. */
export function textEntries(declarations: Declarations): Entries {
  const template = templateOf(declarations)
  const {generation} = declarations
  const recommended = Object.entries(sampling).flatMap(([key, name]) => {
    const value = generation[name]
    if (typeof value !== 'number') return []
    return [[key, name === 'top_k' ? {u32: value} : {f32: value}] as const]
  })
  return {
    ...(template === undefined ? {} : {'tokenizer.chat_template': {text: template}}),
    ...Object.fromEntries(recommended),
  }
}

/** Rules about spaces that have no place in the metadata. */
function spaceWarnings({pre_tokenizer: pre}: TokenizerJson, added: readonly AddedToken[]): string[] {
  const stripping = added.filter(({lstrip, rstrip, single_word: word}) => lstrip || rstrip || word)
  const names = stripping.map(({content}) => content)
  return [
    ...(names.length === 0 ? [] : [`The GGUF file does not say which spaces belong to ${names.join(', ')}.`]),
    ...(pre?.prepend_scheme === 'first' ? ['The GGUF file adds a space to texts after special tokens, too.'] : []),
  ]
}

/** Reads the entries again. @throws gguf_inexpressible for another vocabulary, or another order of merges */
function requireSame({file, json: {model, added_tokens: added = []}}: TextSource, entries: Entries): void {
  const metadata = new Map(Object.entries(entries).map(([key, entry]) => [key, entryValue(entry)]))
  const found = tokenizerOf(file, metadata).json as TokenizerJson
  const idsOf = ({model, added_tokens = []}: TokenizerJson) =>
    new Map([...Object.entries(model?.vocab ?? {}), ...added_tokens.map(({content, id}) => [content, id] as const)])
  const [own, read] = [idsOf({model: model ?? {}, added_tokens: added}), idsOf(found)]
  for (const [token, id] of own)
    if (read.get(token) !== id) throw inexpressible(file, `the token ${JSON.stringify(token)} more than once`)
  // The order of merges to the same token has no effect.
  const results = ({merges = []}: NonNullable<TokenizerJson['model']>) => {
    const tokens = merges.map((pair) => (typeof pair === 'string' ? pair.replace(' ', '') : pair.join('')))
    return tokens.filter((token, i) => token !== tokens[i - 1])
  }
  if (!isDeepStrictEqual(results(model ?? {}), results(found.model ?? {})))
    throw inexpressible(file, 'an order of merges that scores of tokens do not have')
}
