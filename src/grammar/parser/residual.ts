interface Shared {
  readonly id: number
  readonly nullable: boolean
}

/** What is still expected of a rule. Equal ones of a `Residuals` are the same object. */
export type Residual = Shared &
  (
    | {readonly kind: 'nothing'}
    | {readonly kind: 'empty'}
    /** A lexeme, by its number; a negative one is that of a nested grammar. It matches no empty text. */
    | {readonly kind: 'lexeme'; readonly lexeme: number}
    | {readonly kind: 'rule'; readonly rule: number}
    | {readonly kind: 'sequence'; readonly head: Residual; readonly tail: Residual}
    | {readonly kind: 'either'; readonly options: readonly Residual[]}
    | {readonly kind: 'repeat'; readonly part: Residual; readonly min: number; readonly max: number}
  )

/** What remains of a residual after each lexeme and rule with which it may begin. Rules match at least one byte here. */
export interface Transitions {
  readonly lexemes: ReadonlyMap<number, readonly Residual[]>
  readonly rules: ReadonlyMap<number, readonly Residual[]>
}

/** Most residuals begin with lexemes or with rules only, and an empty map takes as much memory as a small one. */
const none: ReadonlyMap<number, readonly Residual[]> = new Map()

type Form = Residual extends infer R ? (R extends Residual ? Omit<R, 'id'> : never) : never

/** Creates residuals in a normal form, and what remains of them (partial derivatives of Antimirov, 1996). */
export class Residuals {
  #known = new Map<string, Residual>()
  #transitions = new Map<Residual, Transitions>()
  #ids = 0
  readonly #isNullable: (rule: number) => boolean
  readonly nothing = this.#add({kind: 'nothing', nullable: false})
  readonly empty = this.#add({kind: 'empty', nullable: true})

  constructor(isNullable: (rule: number) => boolean) {
    this.#isNullable = isNullable
  }

  /** Number of residuals that are kept for reuse. */
  get size(): number {
    return this.#known.size
  }

  /** Stops reusing the residuals so far, so that those that are not in use can be collected. */
  forget(): void {
    this.#known = new Map()
    this.#transitions = new Map()
  }

  #add(form: Form): Residual {
    return Object.assign(form, {id: this.#ids++}) as Residual
  }

  #intern(key: string, form: () => Form): Residual {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const added = this.#add(form())
    this.#known.set(key, added)
    return added
  }

  lexeme(lexeme: number): Residual {
    return this.#intern(`l${lexeme}`, () => ({kind: 'lexeme', lexeme, nullable: false}))
  }

  rule(rule: number): Residual {
    return this.#intern(`g${rule}`, () => ({kind: 'rule', rule, nullable: this.#isNullable(rule)}))
  }

  sequence(head: Residual, tail: Residual): Residual {
    if (head === this.nothing || tail === this.nothing) return this.nothing
    if (head === this.empty) return tail
    if (tail === this.empty) return head
    if (head.kind === 'sequence') return this.sequence(head.head, this.sequence(head.tail, tail))
    const nullable = head.nullable && tail.nullable
    return this.#intern(`s${head.id},${tail.id}`, () => ({kind: 'sequence', head, tail, nullable}))
  }

  either(options: readonly Residual[]): Residual {
    const flat = options.flatMap((each) => (each.kind === 'either' ? each.options : [each]))
    const kept = [...new Set(flat)].filter((each) => each !== this.nothing).sort((a, b) => a.id - b.id)
    if (kept.length <= 1) return kept[0] ?? this.nothing
    const nullable = kept.some((each) => each.nullable)
    return this.#intern(`e${kept.map(({id}) => id)}`, () => ({kind: 'either', options: kept, nullable}))
  }

  repeat(part: Residual, minCount: number, max: number): Residual {
    const min = part.nullable ? 0 : minCount
    if (min > max) return this.nothing
    if (max === 0 || part === this.empty) return this.empty
    if (part === this.nothing) return min === 0 ? this.empty : this.nothing
    if (min === 1 && max === 1) return part
    return this.#intern(`r${part.id},${min},${max}`, () => ({kind: 'repeat', part, min, max, nullable: min === 0}))
  }

  transitions(residual: Residual): Transitions {
    let known = this.#transitions.get(residual)
    if (known === undefined) {
      known = this.#create(residual)
      this.#transitions.set(residual, known)
    }
    return known
  }

  #create(residual: Residual): Transitions {
    const lexemes = new Map<number, Residual[]>()
    const rules = new Map<number, Residual[]>()
    const add = (to: Map<number, Residual[]>, symbol: number, rest: Residual) => {
      const known = to.get(symbol)
      if (known === undefined) to.set(symbol, [rest])
      else if (!known.includes(rest)) known.push(rest)
    }
    const visit = (at: Residual, rest: Residual): void => {
      if (at.kind === 'lexeme') add(lexemes, at.lexeme, rest)
      else if (at.kind === 'rule') add(rules, at.rule, rest)
      else if (at.kind === 'either') for (const each of at.options) visit(each, rest)
      else if (at.kind === 'repeat')
        visit(at.part, this.sequence(this.repeat(at.part, Math.max(0, at.min - 1), at.max - 1), rest))
      else if (at.kind === 'sequence') {
        visit(at.head, this.sequence(at.tail, rest))
        if (at.head.nullable) visit(at.tail, rest)
      }
    }
    visit(residual, this.empty)
    return {lexemes: lexemes.size === 0 ? none : lexemes, rules: rules.size === 0 ? none : rules}
  }
}
