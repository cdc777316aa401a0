import {type ByteSet, byteSetKey, hasByte, unionOf} from './byte-set.js'

interface Shared {
  readonly id: number
  /** Whether it matches the empty text. */
  readonly nullable: boolean
  /** Whether it has no intersection and no complement, so that its form shows whether it matches anything. */
  readonly plain: boolean
  /** Lower bound of the length of a match, bytes. */
  readonly shortest: number
  /** The byte with which each match begins; -1 if that is not known. */
  readonly first: number
}

/** A regular expression over bytes. Equal ones of a `Regexes` are the same object. */
export type Regex = Shared &
  (
    | {readonly kind: 'nothing'}
    | {readonly kind: 'empty'}
    /** Bytes, as Latin-1; at least one. */
    | {readonly kind: 'text'; readonly text: string}
    | {readonly kind: 'byte'; readonly set: ByteSet}
    | {readonly kind: 'sequence'; readonly head: Regex; readonly tail: Regex}
    | {readonly kind: 'either'; readonly options: readonly Regex[]}
    | {readonly kind: 'repeat'; readonly part: Regex; readonly min: number; readonly max: number}
    | {readonly kind: 'both'; readonly parts: readonly Regex[]}
    | {readonly kind: 'not'; readonly part: Regex}
  )

type Form = Regex extends infer R ? (R extends Regex ? Omit<R, 'id' | 'first'> : never) : never

/** @returns -1 if not every match begins with the same byte, or that is not easy to see */
function firstOf(form: Form): number {
  if (form.kind === 'text') return form.text.charCodeAt(0)
  return form.kind === 'sequence' && !form.head.nullable ? form.head.first : -1
}

const byId = (a: Regex, b: Regex) => a.id - b.id
const unique = (sorted: readonly Regex[]) => sorted.filter((each, i) => each !== sorted[i - 1])

/** Creates regular expressions in a normal form: none but `nothing` is without a match if it is plain. */
export class Regexes {
  #known = new Map<string, Regex>()
  #ids = 0
  /** Descriptions that `structureOf` keeps. */
  structures = new Map<Regex, string>()
  /** Derivatives computed so far, each for one node of an expression. */
  steps = 0
  readonly nothing = this.#add({kind: 'nothing', nullable: false, plain: true, shortest: Number.POSITIVE_INFINITY})
  readonly empty = this.#add({kind: 'empty', nullable: true, plain: true, shortest: 0})
  /** Any bytes. */
  readonly anything = this.#add({kind: 'not', part: this.nothing, nullable: true, plain: false, shortest: 0})

  /** Number of expressions that are kept for reuse. */
  get size(): number {
    return this.#known.size
  }

  /** Stops reusing the expressions so far, so that those that are not in use can be collected. */
  forget(): void {
    this.#known = new Map()
    this.structures = new Map()
  }

  #add(form: Form): Regex {
    return Object.assign(form, {id: this.#ids++, first: firstOf(form)}) as Regex
  }

  #intern(key: string, form: () => Form): Regex {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const added = this.#add(form())
    this.#known.set(key, added)
    return added
  }

  /** The sets of bytes and the texts of all expressions so far; derivatives add none that divide them further. */
  alphabet(): {sets: ByteSet[]; texts: string[]} {
    const all = [...this.#known.values()]
    return {
      sets: all.flatMap((each) => (each.kind === 'byte' ? [each.set] : [])),
      texts: all.flatMap((each) => (each.kind === 'text' ? [each.text] : [])),
    }
  }

  /** @param text bytes as Latin-1 */
  text(text: string): Regex {
    if (text === '') return this.empty
    return this.#intern(`t${text}`, () => ({kind: 'text', text, nullable: false, plain: true, shortest: text.length}))
  }

  byte(set: ByteSet): Regex {
    if (set.every((word) => word === 0)) return this.nothing
    return this.#intern(`b${byteSetKey(set)}`, () => ({kind: 'byte', set, nullable: false, plain: true, shortest: 1}))
  }

  sequence(head: Regex, tail: Regex): Regex {
    if (head === this.nothing || tail === this.nothing) return this.nothing
    if (head === this.empty) return tail
    if (tail === this.empty) return head
    if (head.kind === 'sequence') return this.sequence(head.head, this.sequence(head.tail, tail))
    if (head.kind === 'text' && tail.kind === 'text') return this.text(head.text + tail.text)
    if (head.kind === 'text' && tail.kind === 'sequence' && tail.head.kind === 'text')
      return this.sequence(this.text(head.text + tail.head.text), tail.tail)
    return this.#intern(`s${head.id},${tail.id}`, () => ({
      kind: 'sequence',
      head,
      tail,
      nullable: head.nullable && tail.nullable,
      plain: head.plain && tail.plain,
      shortest: head.shortest + tail.shortest,
    }))
  }

  either(options: readonly Regex[]): Regex {
    if (options.length === 2 && options[0] === this.nothing) return options[1]!
    if (options.length === 2 && (options[1] === this.nothing || options[1] === options[0])) return options[0]!
    const all: Regex[] = []
    let set: ByteSet | undefined
    for (const option of options)
      for (const each of option.kind === 'either' ? option.options : [option]) {
        if (each.kind === 'byte') set = set === undefined ? each.set : unionOf(set, each.set)
        else if (each !== this.nothing) all.push(each)
      }
    if (all.includes(this.anything)) return this.anything
    if (set !== undefined) all.push(this.byte(set))
    const sorted = unique(all.sort(byId))
    // The empty text is redundant next to another option that matches it.
    const isRedundant = sorted.includes(this.empty) && sorted.some((each) => each.nullable && each !== this.empty)
    const kept = isRedundant ? sorted.filter((each) => each !== this.empty) : sorted
    if (kept.length <= 1) return kept[0] ?? this.nothing
    return this.#intern(`e${kept.map(({id}) => id)}`, () => ({
      kind: 'either',
      options: kept,
      nullable: kept.some(({nullable}) => nullable),
      plain: kept.every(({plain}) => plain),
      shortest: Math.min(...kept.map(({shortest}) => shortest)),
    }))
  }

  repeat(part: Regex, minCount: number, max: number): Regex {
    const min = part.nullable ? 0 : minCount
    if (min > max) return this.nothing
    if (max === 0 || part === this.empty) return this.empty
    if (part === this.nothing) return min === 0 ? this.empty : this.nothing
    if (min === 1 && max === 1) return part
    if (part.kind === 'repeat' && part.min === 0 && part.max === Number.POSITIVE_INFINITY) return part
    return this.#intern(`r${part.id},${min},${max}`, () => ({
      kind: 'repeat',
      part,
      min,
      max,
      nullable: min === 0,
      plain: part.plain,
      shortest: min === 0 ? 0 : min * part.shortest,
    }))
  }

  both(parts: readonly Regex[]): Regex {
    const flat = parts.flatMap((each) => (each.kind === 'both' ? each.parts : [each]))
    if (flat.includes(this.nothing)) return this.nothing
    const kept = unique(flat.filter((each) => each !== this.anything).sort(byId))
    if (kept.length <= 1) return kept[0] ?? this.anything
    if (kept.includes(this.empty)) return kept.every(({nullable}) => nullable) ? this.empty : this.nothing
    return this.#intern(`a${kept.map(({id}) => id)}`, () => ({
      kind: 'both',
      parts: kept,
      nullable: kept.every(({nullable}) => nullable),
      plain: false,
      shortest: Math.max(...kept.map(({shortest}) => shortest)),
    }))
  }

  /** Any bytes that the part does not match. */
  not(part: Regex): Regex {
    if (part === this.nothing) return this.anything
    if (part.kind === 'not') return part.part
    return this.#intern(`n${part.id}`, () => ({
      kind: 'not',
      part,
      nullable: !part.nullable,
      plain: false,
      shortest: part.nullable ? 1 : 0,
    }))
  }

  /**
   * What may follow a byte in the matches of an expression that start with it (Brzozowski, "Derivatives of Regular
   * Expressions", 1964).
   */
  derivative(regex: Regex, byte: number): Regex {
    if (regex.first !== -1 && regex.first !== byte) return this.nothing
    this.steps++
    switch (regex.kind) {
      case 'nothing':
      case 'empty':
        return this.nothing
      case 'text':
        return this.text(regex.text.slice(1))
      case 'byte':
        return hasByte(regex.set, byte) ? this.empty : this.nothing
      case 'sequence':
        return this.#derivativeOfSequence(regex, byte)
      case 'either':
        return this.#derivativeOfEither(regex.options, byte)
      case 'repeat': {
        const rest = this.derivative(regex.part, byte)
        if (rest === this.nothing) return rest
        return this.sequence(rest, this.repeat(regex.part, Math.max(0, regex.min - 1), regex.max - 1))
      }
      case 'both':
        return this.both(regex.parts.map((each) => this.derivative(each, byte)))
      case 'not':
        return this.not(this.derivative(regex.part, byte))
    }
  }

  #derivativeOfEither(options: readonly Regex[], byte: number): Regex {
    let only: Regex = this.nothing
    let several: Regex[] | undefined
    for (const each of options) {
      if (each.first !== -1 && each.first !== byte) continue
      const rest = this.derivative(each, byte)
      if (rest === this.nothing || rest === only) continue
      if (only === this.nothing) only = rest
      else if (several === undefined) several = [only, rest]
      else several.push(rest)
    }
    return several === undefined ? only : this.either(several)
  }

  #derivativeOfSequence(regex: Regex, byte: number): Regex {
    const options: Regex[] = []
    for (let at = regex; ; at = at.tail) {
      if (at.kind !== 'sequence') {
        options.push(this.derivative(at, byte))
        break
      }
      const rest = this.derivative(at.head, byte)
      if (rest !== this.nothing) options.push(this.sequence(rest, at.tail))
      if (!at.head.nullable) break
    }
    return options.length === 1 ? options[0]! : this.either(options)
  }
}
