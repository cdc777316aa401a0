import {UnsupportedFeature} from './pre-tokenizer.js'

/** `post_processor` of `tokenizer.json`. */
export interface PostProcessorJson {
  type?: unknown
  single?: readonly {SpecialToken?: {id: string}; Sequence?: object}[]
  special_tokens?: Readonly<Record<string, {ids?: readonly number[]}>>
  cls?: readonly [string, number]
  sep?: readonly [string, number]
  processors?: readonly PostProcessorJson[]
}

/** The tokens that the model expects around a text. */
export interface Surroundings {
  before: readonly number[]
  after: readonly number[]
}

/**
 * The tokens around a text. `add_bos_token` and `add_eos_token` of the settings have no effect, as in transformers 5 if there
 * is a `tokenizer.json`: programs that write it put them into its post-processor.
 * @param idOf id of a token by its name
 * @throws UnsupportedFeature
 */
export function surroundingsOf(
  json: PostProcessorJson | null | undefined,
  idOf: (name: string) => number | undefined,
): Surroundings {
  const {type, single = [], special_tokens: tokens = {}, cls, sep, processors = []} = json ?? {type: 'ByteLevel'}
  switch (type) {
    case 'ByteLevel':
      return {before: [], after: []}
    case 'TemplateProcessing': {
      const at = single.findIndex(({Sequence}) => Sequence !== undefined)
      const ids = (items: typeof single) =>
        items.flatMap(({SpecialToken: token}) => {
          if (token === undefined) return []
          const id = idOf(token.id)
          return tokens[token.id]?.ids ?? (id === undefined ? [] : [id])
        })
      return {before: ids(single.slice(0, at)), after: ids(single.slice(at + 1))}
    }
    case 'BertProcessing':
    case 'RobertaProcessing':
      return {before: cls === undefined ? [] : [cls[1]], after: sep === undefined ? [] : [sep[1]]}
    case 'Sequence':
      return processors
        .map((each) => surroundingsOf(each, idOf))
        .reduce(({before, after}, next) => ({before: [...next.before, ...before], after: [...after, ...next.after]}), {
          before: [],
          after: [],
        })
    default:
      throw new UnsupportedFeature(`the post-processor ${String(type)}`)
  }
}
