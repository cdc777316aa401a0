import {createHash} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {
  assertContract,
  readDocument,
  type WorkflowDefinition,
  type WorkflowFile,
  type WorkflowStep,
} from '../../contracts/index.js'
import {nearest, SvcError} from '../../errors/index.js'
import {canonicalJson} from '../../lang/index.js'
import {type ActivityKey, activityFault, activityReaders, durationMs, type Reader} from './activity.js'
import type {ActivityStep, InputType, Step, Workflow} from './definition.js'
import {compileExpression, ExpressionFailure} from './expression.js'
import {compileTemplate, type Template} from './template.js'

const maxFileBytes = 1 << 20
const defaultBackoffMs = 100
/** Maximum depth of blocks. */
const maxDepth = 20

/**
 * Reads a workflow file: YAML, or JSON if its name does not end in .yaml or .yml.
 * @throws file_not_found, file_unreadable, document_unparsable, contract_violation, workflow_invalid
 */
export async function readWorkflows(file: string): Promise<readonly Workflow[]> {
  const source = await readFile(file, 'utf8').catch((error: unknown) => {
    throw SvcError.from(Object.assign(error as Error, {path: file}))
  })
  if (source.length > maxFileBytes)
    throw new SvcError('workflow_invalid', {place: file, reason: `it is larger than ${maxFileBytes} bytes`})
  const document = await readDocument(source, file)
  await assertContract('workflow/workflow.v1', document, file)
  return Object.entries((document as WorkflowFile).workflows).map(([name, definition]) =>
    compileWorkflow(name, definition, file),
  )
}

/** The workflow with a name; the name is optional in a file with one workflow. @throws workflow_unknown */
export function findWorkflow(workflows: readonly Workflow[], file: string, name: string | undefined): Workflow {
  const [first, ...others] = workflows
  const names = workflows.map((each) => each.name)
  const found = name === undefined && others.length === 0 ? first : workflows.find((each) => each.name === name)
  if (found !== undefined) return found
  throw new SvcError('workflow_unknown', {file, name, names, suggestion: name && nearest(name, names)})
}

/** Compiles a definition that matches its schema. @param place for errors @throws workflow_invalid */
export function compileWorkflow(name: string, source: WorkflowDefinition, place: string): Workflow {
  const {description, input = {}, hosts = [], steps, output} = source
  const compiler = new WorkflowCompiler(`${place}: workflow ${name}`)
  return {
    name,
    description,
    inputs: Object.fromEntries(Object.entries(input).map(([key, row]) => [key, inputType(row)])),
    hosts,
    steps: compiler.steps(steps, {path: '', names: ['input', 'run', 'steps'], depth: 0}),
    output: output === undefined ? undefined : compiler.template(output, ['input', 'run', 'steps'], 'output'),
    source,
    get digest() {
      return createHash('sha256').update(canonicalJson(source)).digest('hex')
    },
  }
}

const inputType = ({
  type = 'string',
  description,
  default: fallback,
}: NonNullable<WorkflowDefinition['input']>[string]): InputType => ({type, description, fallback})

/** Where steps are compiled: their position, and the names that their expressions may use. */
interface Surroundings {
  readonly path: string
  readonly names: readonly string[]
  readonly depth: number
}

class WorkflowCompiler {
  readonly #place: string
  readonly #ids = new Set<string>()

  constructor(place: string) {
    this.#place = place
  }

  steps(sources: readonly WorkflowStep[], {path, names, depth}: Surroundings): readonly Step[] {
    if (depth > maxDepth) throw this.#invalid(path, `blocks are nested more than ${maxDepth} levels deep`)
    return sources.map((source, i) =>
      this.#step(source, {path: path === '' ? String(i) : `${path}.${i}`, names, depth: depth + 1}),
    )
  }

  template<T>(value: T, names: readonly string[], path: string): Template<T> {
    return this.#compiled(path, () => compileTemplate(value, names)) as Template<T>
  }

  #step(source: WorkflowStep, at: Surroundings): Step {
    const {path, names} = at
    const {id} = source
    if (id !== undefined && this.#ids.has(id)) throw this.#invalid(path, `the id ${id} is used twice`)
    if (id !== undefined) this.#ids.add(id)
    const kinds = Object.keys(source).filter((key) => key in activityReaders || blocks.has(key))
    const [kind, ...others] = kinds
    if (kind === undefined) throw this.#invalid(path, 'it has no activity')
    if (others.length > 0) throw this.#invalid(path, `it has more than one activity: ${kinds.join(', ')}`)
    const misplaced = Object.keys(source).find((key) => !belongs(key, kind))
    if (misplaced !== undefined) throw this.#invalid(path, `${misplaced} does not belong to ${kind}`)
    const base = {id, name: id ?? kind, path}
    const when = source.if === undefined || kind === 'then' ? undefined : this.#expression(source.if, names, path)
    switch (kind) {
      case 'then':
        return {
          ...base,
          name: id ?? 'if',
          kind: 'branch',
          when: undefined,
          condition: this.#expression(source.if ?? this.#missing(path, 'then needs if'), names, path),
          consequent: this.steps(source.then ?? [], {...at, path: `${path}.then`}),
          otherwise: this.steps(source.else ?? [], {...at, path: `${path}.else`}),
        }
      case 'parallel':
        return {
          ...base,
          kind: 'parallel',
          when,
          branches: Object.fromEntries(
            Object.entries(source.parallel ?? {}).map(([branch, inner]) => [
              branch,
              this.steps(inner, {...at, path: `${path}.${branch}`}),
            ]),
          ),
        }
      case 'for_each': {
        const as = source.as ?? 'item'
        return {
          ...base,
          kind: 'for_each',
          when,
          items: this.template(source.for_each, names, path),
          as,
          concurrency: source.concurrency ?? 1,
          steps: this.steps(source.steps ?? this.#missing(path, 'for_each needs steps'), {
            ...at,
            path: `${path}.each`,
            names: [...new Set([...names, as, 'index'])],
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
    {path, names, when, depth}: Surroundings & {when: ActivityStep['when']},
  ): ActivityStep {
    const fault = activityFault(key, source)
    if (fault !== undefined) throw this.#invalid(path, fault)
    const {id, retries = 0, initial_backoff: backoff = defaultBackoffMs, timeout, cache = 0} = source
    const read = activityReaders[key] as Reader<ActivityKey>
    const compile = <T>(value: T) => this.template(value, names, path)
    return {
      kind: 'activity',
      id,
      name: id ?? key,
      path,
      when,
      activity: this.#compiled(path, () => read(source[key] as never, compile, source)),
      maxAttempts: retries + 1,
      ...this.#compiled(path, () => ({
        backoffMs: Math.max(1, durationMs(backoff)),
        timeoutMs: timeoutOf(key, timeout),
        cacheMs: durationMs(cache),
      })),
      continuesOnError: source.continue_on_error ?? false,
      compensation: source.compensate && this.#compensation(source.compensate, {path, names, depth}),
    }
  }

  #compensation(source: WorkflowStep, at: Surroundings): ActivityStep {
    const path = `${at.path}.compensate`
    const step = this.#step(source, {...at, path})
    if (step.kind !== 'activity' || source.compensate !== undefined)
      throw this.#invalid(path, 'a compensation must be one activity without a compensation of its own')
    return step
  }

  #expression(text: string, names: readonly string[], path: string) {
    return this.#compiled(path, () => compileExpression(text, names))
  }

  #compiled<T>(path: string, compile: () => T): T {
    try {
      return compile()
    } catch (error) {
      if (error instanceof ExpressionFailure) throw this.#invalid(path, error.message)
      throw error
    }
  }

  #missing(path: string, reason: string): never {
    throw this.#invalid(path, reason)
  }

  #invalid(path: string, reason: string): SvcError {
    return new SvcError('workflow_invalid', {place: `${this.#place}, step ${path}`, reason: reason.replace(/\.$/, '')})
  }
}

/** Calls of the mesh always have a time limit, and at least the time for one request. */
const defaultMeshTimeoutMs = 30_000
const minMeshTimeoutMs = 250

function timeoutOf(key: ActivityKey, timeout: WorkflowStep['timeout']): number | undefined {
  const ms = timeout === undefined ? undefined : Math.max(1, durationMs(timeout))
  return key.startsWith('mesh_') ? Math.max(minMeshTimeoutMs, ms ?? defaultMeshTimeoutMs) : ms
}

const blocks: ReadonlySet<string> = new Set(['then', 'parallel', 'for_each'])

/** Keys of a step that is not an activity, beside `id` and `if`. */
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
