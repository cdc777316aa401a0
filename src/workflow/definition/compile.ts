import {createHash} from 'node:crypto'
import type {WorkflowDefinition, WorkflowStep} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {canonicalJson} from '../../lang/index.js'
import {type ActivityKey, activityFault, activityReaders, durationMs, type Reader} from './activity.js'
import {compileSchedule, type Schedule} from './cron.js'
import type {ActivityStep, InputType, Step, Workflow} from './definition.js'
import {compileExpression, ExpressionFailure} from './expression.js'
import {matches} from './input.js'
import {compileTemplate, type Template} from './template.js'

const defaultBackoffMs = 100
/** Maximum depth of blocks. */
const maxDepth = 20

/** What is wrong with a step, and where: by the names of steps, and by keys and indexes in the definition. */
export interface Fault {
  readonly step: string
  readonly reason: string
  readonly path: readonly (string | number)[]
  /** The expression that is wrong, if that is one. */
  readonly finding?: ExpressionFailure['finding']
}

/** The part of a workflow that has a fault: a step by its position, or another key. */
export const partOf = (step: string): string => (/^\d/.test(step) ? `step ${step}` : step)

/** Compiles a definition that matches its schema. @param place for errors @throws workflow_invalid */
export function compileWorkflow(name: string, source: WorkflowDefinition, place: string): Workflow {
  const {workflow, faults} = compileDefinition(name, source)
  const [fault] = faults
  if (fault === undefined) return workflow
  throw new SvcError('workflow_invalid', {
    place: `${place}: workflow ${name}, ${partOf(fault.step)}`,
    reason: fault.reason.replace(/\.$/, ''),
  })
}

/** Compiles a definition that matches its schema, and collects its faults. With faults, the workflow is incomplete. */
export function compileDefinition(
  name: string,
  source: WorkflowDefinition,
): {workflow: Workflow; faults: readonly Fault[]} {
  const {description, input = {}, hosts = [], cron, steps, output} = source
  const compiler = new WorkflowCompiler()
  const names = ['input', 'run', 'steps']
  const workflow = {
    name,
    description,
    inputs: Object.fromEntries(Object.entries(input).map(([key, row]) => [key, inputType(row)])),
    hosts,
    schedule: compiler.schedule(cron, input, {step: 'cron', path: ['cron'], names, depth: 0}),
    steps: compiler.steps(steps, {step: '', path: ['steps'], names, depth: 0}),
    output: compiler.output(output, {step: 'output', path: ['output'], names, depth: 0}),
    source,
    get digest() {
      // A run does not depend on what starts others.
      const {cron: _, ...definition} = source
      return createHash('sha256').update(canonicalJson(definition)).digest('hex')
    },
  }
  return {workflow, faults: compiler.faults}
}

const inputType = ({
  type = 'string',
  description,
  default: fallback,
}: NonNullable<WorkflowDefinition['input']>[string]): InputType => ({type, description, fallback})

/** Where steps are compiled: their position, and the names that their expressions may use. */
interface Surroundings {
  /** Position for people, such as `2.then.0`. */
  readonly step: string
  /** Position in the definition, such as `['steps', 2, 'then', 0]`. */
  readonly path: Fault['path']
  readonly names: readonly string[]
  readonly depth: number
}

class StepFault extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

class WorkflowCompiler {
  readonly faults: Fault[] = []
  readonly #ids = new Set<string>()

  /** The schedule; undefined if an input is required, because the daemon passes none. */
  schedule(
    source: WorkflowDefinition['cron'],
    inputs: NonNullable<WorkflowDefinition['input']>,
    at: Surroundings,
  ): Schedule | undefined {
    if (source === undefined) return undefined
    const [schedule] = this.#collect(() => {
      const required = Object.entries(inputs).find(([, row]) => row.default === undefined)
      if (required !== undefined)
        throw invalid(at, `the input ${required[0]} needs a default, since the daemon passes none`)
      const wrong = Object.entries(inputs).find(([, {type = 'string', default: value}]) => !matches[type](value))
      if (wrong !== undefined)
        throw invalid(at, `the default of the input ${wrong[0]} must be of type ${wrong[1].type ?? 'string'}`)
      return compiled(at, () => compileSchedule(source))
    })
    return schedule
  }

  /** Compiles steps; a step with a fault is left out. */
  steps(sources: readonly WorkflowStep[], at: Surroundings): readonly Step[] {
    const {step, path, names, depth} = at
    return sources.flatMap((source, i) => {
      const place = step === '' ? String(i) : `${step}.${i}`
      const inner = {step: place, path: [...path, i], names, depth: depth + 1}
      return this.#collect(() => {
        if (depth > maxDepth) throw invalid(at, `blocks are nested more than ${maxDepth} levels deep`)
        return this.#step(source, inner)
      })
    })
  }

  output(value: unknown, at: Surroundings): Template | undefined {
    return value === undefined ? undefined : this.#collect(() => this.#template(value, at))[0]
  }

  #collect<T>(compile: () => T): T[] {
    try {
      return [compile()]
    } catch (error) {
      if (!(error instanceof StepFault)) throw error
      this.faults.push(error.fault)
      return []
    }
  }

  #template<T>(value: T, at: Surroundings): Template<T> {
    return compiled(at, () => compileTemplate(value, at.names)) as Template<T>
  }

  #step(source: WorkflowStep, at: Surroundings): Step {
    const {id} = source
    if (id !== undefined && this.#ids.has(id)) throw invalid(at, `the id ${id} is used twice`, 'id')
    if (id !== undefined) this.#ids.add(id)
    const kinds = Object.keys(source).filter((key) => key in activityReaders || blocks.has(key))
    const [kind, other] = kinds
    if (kind === undefined) throw invalid(at, 'it has no activity')
    if (other !== undefined) throw invalid(at, `it has more than one activity: ${kinds.join(', ')}`, other)
    const misplaced = Object.keys(source).find((key) => !belongs(key, kind))
    if (misplaced !== undefined) throw invalid(at, `${misplaced} does not belong to ${kind}`, misplaced)
    const base = {id, name: id ?? kind, path: at.step}
    const when = source.if === undefined || kind === 'then' ? undefined : expression(source.if, at)
    const inside = (name: string, key: string, ...more: string[]): Surroundings => ({
      ...at,
      step: `${at.step}.${name}`,
      path: [...at.path, key, ...more],
    })
    switch (kind) {
      case 'then': {
        // Their faults are found even if the condition is invalid.
        const consequent = this.steps(source.then ?? [], inside('then', 'then'))
        const otherwise = this.steps(source.else ?? [], inside('else', 'else'))
        const condition = expression(source.if ?? missing(at, 'then needs if'), at)
        return {...base, name: id ?? 'if', kind: 'branch', when: undefined, condition, consequent, otherwise}
      }
      case 'parallel':
        return {
          ...base,
          kind: 'parallel',
          when,
          branches: Object.fromEntries(
            Object.entries(source.parallel ?? {}).map(([branch, inner]) => [
              branch,
              this.steps(inner, inside(branch, 'parallel', branch)),
            ]),
          ),
        }
      case 'for_each': {
        const as = source.as ?? 'item'
        return {
          ...base,
          kind: 'for_each',
          when,
          items: this.#template(source.for_each, at),
          as,
          concurrency: source.concurrency ?? 1,
          steps: this.steps(source.steps ?? missing(at, 'for_each needs steps'), {
            ...inside('each', 'steps'),
            names: [...new Set([...at.names, as, 'index'])],
          }),
        }
      }
      default:
        return this.#activity(source, kind as ActivityKey, {...at, when})
    }
  }

  #activity(
    source: WorkflowStep,
    key: ActivityKey,
    {when, ...at}: Surroundings & {when: ActivityStep['when']},
  ): ActivityStep {
    const fault = activityFault(key, source)
    if (fault !== undefined) throw invalid(at, fault, key)
    const {id, retries = 0, initial_backoff: backoff = defaultBackoffMs, timeout, cache = 0} = source
    const read = activityReaders[key] as Reader<ActivityKey>
    const compile = <T>(value: T) => this.#template(value, at)
    return {
      kind: 'activity',
      id,
      name: id ?? key,
      path: at.step,
      when,
      activity: compiled(at, () => read(source[key] as never, compile, source)),
      maxAttempts: retries + 1,
      ...compiled(at, () => ({
        backoffMs: Math.max(1, durationMs(backoff)),
        timeoutMs: timeoutOf(key, timeout),
        cacheMs: durationMs(cache),
      })),
      continuesOnError: source.continue_on_error ?? false,
      compensation: source.compensate && this.#compensation(source.compensate, at),
    }
  }

  #compensation(source: WorkflowStep, outer: Surroundings): ActivityStep {
    const at = {...outer, step: `${outer.step}.compensate`, path: [...outer.path, 'compensate']}
    const step = this.#step(source, at)
    if (step.kind !== 'activity' || source.compensate !== undefined)
      throw invalid(at, 'a compensation must be one activity without a compensation of its own')
    return step
  }
}

const expression = (text: string, at: Surroundings) => compiled(at, () => compileExpression(text, at.names))

function compiled<T>(at: Surroundings, compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof ExpressionFailure)) throw error
    const {step, path} = at
    throw new StepFault({step, path, reason: error.message, finding: error.finding})
  }
}

function missing(at: Surroundings, reason: string): never {
  throw invalid(at, reason)
}

/** @param key member of the step that is wrong */
const invalid = ({step, path}: Surroundings, reason: string, key?: string): StepFault =>
  new StepFault({step, reason, path: key === undefined ? path : [...path, key]})

/** Calls of the mesh always have a time limit, and at least the time for one request. */
const defaultMeshTimeoutMs = 30_000
const minMeshTimeoutMs = 250

function timeoutOf(key: ActivityKey, timeout: WorkflowStep['timeout']): number | undefined {
  const ms = timeout === undefined ? undefined : Math.max(1, durationMs(timeout))
  return key.startsWith('mesh_') ? Math.max(minMeshTimeoutMs, ms ?? defaultMeshTimeoutMs) : ms
}

const blocks: ReadonlySet<string> = new Set(['then', 'parallel', 'for_each'])

/** Keys of a step that is not an activity, in addition to `id` and `if`. */
const keysOfBlocks: ReadonlyMap<string, readonly string[]> = new Map([
  ['then', ['else']],
  ['parallel', []],
  ['for_each', ['as', 'concurrency', 'steps']],
])

const onlyInBlocks: ReadonlySet<string> = new Set(['else', 'as', 'concurrency', 'steps'])

function belongs(key: string, kind: string): boolean {
  if (key === kind || key === 'id' || key === 'if') return true
  return keysOfBlocks.get(kind)?.includes(key) ?? !onlyInBlocks.has(key)
}
