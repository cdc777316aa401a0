import {budget, TemplateError} from './budget.js'
import {compile} from './compiler.js'
import {globals, RefusedError} from './globals.js'
import {parse} from './parser.js'
import {Scope} from './scope.js'
import {fromJson} from './values.js'

export {RefusedError, TemplateError}

/**
 * A template of Jinja2 3.1, as transformers sets it up: `trim_blocks`, `lstrip_blocks`, loop controls, `tojson` without
 * escapes, `raise_exception`, `strftime_now` and the `generation` block. Templates cannot reach objects of the host; time,
 * memory and recursion are limited. `include`, `import`, `extends`, `block` and autoescaping are not supported, nor are the filters
 * `pprint`, `random`, `urlize`, `wordwrap` and `xmlattr`. `safe` and `escape` return plain text.
 */
export class JinjaTemplate {
  readonly #run: (scope: Scope) => string
  readonly #now: () => Date
  readonly #maxSteps: number | undefined

  /**
   * @param maxSteps limit for statements, calls and elements that are processed
   * @throws TemplateError
   */
  constructor(source: string, {now = () => new Date(), maxSteps}: {now?: () => Date; maxSteps?: number} = {}) {
    this.#now = now
    this.#maxSteps = maxSteps
    this.#run = withinStack(() => compile(parse(source)))
  }

  /**
   * @param variables JSON values; an `undefined` one is not defined
   * @throws RefusedError, TemplateError with the line
   */
  render(variables: Readonly<Record<string, unknown>>): string {
    const scope = new Scope()
    for (const [name, value] of globals(this.#now)) scope.set(name, value)
    for (const [name, value] of Object.entries(variables)) if (value !== undefined) scope.set(name, fromJson(value))
    budget.start(this.#maxSteps)
    try {
      return withinStack(() => this.#run(new Scope(scope)))
    } catch (error) {
      if (error instanceof RefusedError || !(error instanceof TemplateError)) throw error
      throw new TemplateError(`${error.message} (line ${budget.line})`, {cause: error})
    }
  }
}

/** Turns an overflow of the stack into an error of the template. */
function withinStack<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError)
      throw new TemplateError(`it is nested too deep or too large (${error.message})`, {cause: error})
    throw error
  }
}
