/** A template fails: with its line, if it is known. */
export class TemplateError extends Error {}

/** Characters of a text, or elements of a list, that a template may produce. */
const maxLength = 64 << 20
/** Statements, calls and elements that a template may process; takes a few seconds. */
const maxSteps = 20_000_000
const maxDepth = 200

/** Limits of the running template, so that it cannot block its thread. Templates run one after the other. */
export const budget = {
  steps: 0,
  depth: 0,
  /** Line of the running statement. */
  line: 0,
  start(): void {
    budget.steps = maxSteps
    budget.depth = 0
    budget.line = 0
  },
  spend(steps: number): void {
    budget.steps -= steps
    if (budget.steps < 0) throw new TemplateError(`it takes more than ${maxSteps} steps`)
  },
  enter(): void {
    if (++budget.depth > maxDepth) throw new TemplateError(`its calls are nested more than ${maxDepth} deep`)
  },
  leave(): void {
    budget.depth--
  },
  /** Checks the length of a text or list before it is created. */
  require(length: number): void {
    if (length > maxLength) throw new TemplateError(`it produces a text of more than ${maxLength} characters`)
  },
}
