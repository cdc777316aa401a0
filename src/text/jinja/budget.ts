/** A template fails: with its line, if it is known. */
export class TemplateError extends Error {}

/** Characters of a text that a template may produce: more than the largest contexts hold. */
const maxLength = 8 << 20
/** Characters of all texts that a template may create, because it may keep them. */
const maxCreated = 128 << 20
/** Characters that cost a step: compared, searched or copied ones, and those that filters, tests and methods work on. */
const [copiedPerStep, readPerStep] = [32, 8]
/** Statements, calls and elements that a template may process; takes a few seconds. */
const maxSteps = 20_000_000
const maxDepth = 200

/** Limits of the running template, so that it cannot block its thread. Templates run one after the other. */
export const budget = {
  /** Steps that may be spent, and those that are left. */
  limit: 0,
  steps: 0,
  /** Characters of the created texts. */
  created: 0,
  depth: 0,
  /** Line of the running statement. */
  line: 0,
  start(steps = maxSteps): void {
    budget.limit = steps
    budget.steps = steps
    budget.created = 0
    budget.depth = 0
    budget.line = 0
  },
  spend(steps: number): void {
    budget.steps -= steps
    if (budget.steps < 0) throw new TemplateError(`it takes more than ${budget.limit} steps`)
  },
  enter(): void {
    if (++budget.depth > maxDepth) throw new TemplateError(`its calls are nested more than ${maxDepth} deep`)
  },
  leave(): void {
    budget.depth--
  },
  /** Spends steps on the texts among values that an operation reads. */
  read(...values: readonly unknown[]): void {
    for (const value of values) if (typeof value === 'string') budget.spend(value.length / readPerStep)
  },
  /** Spends steps on the comparison of texts up to a length. */
  compare(length: number): void {
    budget.spend(length / copiedPerStep)
  },
  /** Spends steps on a search, whose time grows with the length of the pattern, too. */
  search(text: string, pattern: string): void {
    budget.spend((text.length / copiedPerStep) * (1 + pattern.length / 64))
  },
  /** Checks the length of a text before it is created. */
  require(length: number): void {
    if (length > maxLength) throw new TemplateError(`it produces a text of more than ${maxLength} characters`)
  },
  /** Checks and counts a text before it is created. */
  create(length: number): void {
    budget.require(length)
    budget.created += length
    budget.spend(length / copiedPerStep)
    if (budget.created > maxCreated) throw new TemplateError(`it creates texts of more than ${maxCreated} characters`)
  },
  /** Appends to a text that nothing else uses: only the appended characters are new. */
  append(text: string, end: string): string {
    budget.require(text.length + end.length)
    budget.create(end.length)
    return text + end
  },
  /** Counts the text that an operation makes of another one. */
  changed<T>(before: unknown, after: T): T {
    if (typeof before === 'string' && typeof after === 'string' && before !== after) budget.create(after.length)
    return after
  },
}
