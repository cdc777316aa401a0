import {createHash} from 'node:crypto'
import {SvcError} from '../../errors/index.js'

/** The parts of a receipt, in this order. The last ones are of the request, the others of the loaded model. */
export const modelParts = ['base', 'adapter', 'precision', 'template', 'tokenizer', 'program', 'bytes'] as const
export const requestParts = ['sampling', 'seed'] as const
const partNames = [...modelParts, ...requestParts]

export type ModelPart = (typeof modelParts)[number]
export type ReceiptPart = ModelPart | (typeof requestParts)[number]

/** The value of `adapter` without one. */
export const noAdapter = 'none'

const digest = /^[0-9a-f]{32}$/
const forms: Readonly<Record<ReceiptPart, RegExp>> = {
  base: digest,
  adapter: /^(none|[0-9a-f]{32})$/,
  precision: /^(f32|w[48](-7bit)?)$/,
  template: digest,
  tokenizer: digest,
  program: /^[\w.+-]{1,80}$/,
  bytes: /^(same|batch_variant)$/,
  sampling: digest,
  seed: /^\d{1,10}$/,
}

const version = 'svc1'

/**
 * States what a reply was computed from: `svc1:base=…,adapter=…,…,seed=7`. Digests are the first 128 bits of SHA-256, in
 * hexadecimal. It contains no text of the prompt, and is not signed: it is checked by computing it again.
 */
export class Receipt {
  readonly parts: Readonly<Record<ReceiptPart, string>>

  constructor(parts: Readonly<Record<ReceiptPart, string>>) {
    this.parts = parts
  }

  /** @throws receipt_malformed with the part that is wrong */
  static parse(text: string): Receipt {
    const at = text.indexOf(':')
    const malformed = (reason: string) => new SvcError('receipt_malformed', {reason})
    if (at < 0 || text.slice(0, at) !== version) throw malformed(`it does not start with ${version}:`)
    const entries = text.slice(at + 1).split(',')
    const parts = Object.fromEntries(
      partNames.map((name, i) => {
        const [entry = ''] = entries.slice(i, i + 1)
        const value = entry.startsWith(`${name}=`) ? entry.slice(name.length + 1) : undefined
        if (value === undefined || !forms[name].test(value)) throw malformed(`its part ${name} is missing or damaged`)
        return [name, value]
      }),
    )
    if (entries.length > partNames.length) throw malformed(`it has more parts than ${partNames.join(', ')}`)
    return new Receipt(parts as Record<ReceiptPart, string>)
  }

  toString(): string {
    return textOf(partNames, this.parts)
  }
}

/** The part without the request. */
export const fingerprintOf = (parts: Readonly<Record<ModelPart, string>>): string => textOf(modelParts, parts)

const textOf = <Name extends string>(names: readonly Name[], parts: Readonly<Record<Name, string>>): string =>
  `${version}:${names.map((name) => `${name}=${parts[name]}`).join(',')}`

/** Digest of a JSON value, independent of the order of keys. Undefined values count as absent. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex').slice(0, 32)

const sorted = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
