/** The special tokens of a model by the names that chat templates use, such as `bos_token`. */
import {isObject} from '../contracts/index.js'
export type SpecialTokens = Readonly<Record<string, string | readonly string[]>>

const names = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token']

/** Reads the special tokens in the settings of a tokenizer. Those of `extra_special_tokens` have names of their own. */
export function specialTokens(config: Readonly<Record<string, unknown>>): SpecialTokens {
  const {additional_special_tokens: additional, extra_special_tokens: extra} = config
  const named = isObject(extra) ? Object.entries(extra) : []
  const single = [...names.map((name) => [name, config[name]] as const), ...named].flatMap(([name, value]) => {
    const text = tokenText(value)
    return text === undefined ? [] : [[name, text] as const]
  })
  const list = Array.isArray(additional) ? additional.map(tokenText).filter((text) => text !== undefined) : []
  return {...Object.fromEntries(single), ...(list.length === 0 ? {} : {additional_special_tokens: list})}
}

/** A special token is a string, or an object with the string in `content`. */
export function tokenText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  const content = (value as {content?: unknown} | null | undefined)?.content
  return typeof content === 'string' ? content : undefined
}
