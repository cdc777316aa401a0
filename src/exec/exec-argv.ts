import type {OrchTaskV1 as Task} from '../contracts/index.js'
import {nearest, SvcError} from '../errors/index.js'
import {requireListedSecrets} from './exec-secrets.js'

/** A command template of the workspace with the values of its placeholders. */
type ExecRequest = NonNullable<Task['exec']>

/** Command lines by name: the program, then its arguments, in which `{name}` is replaced by a value of the task. */
export type ExecTemplates = Readonly<Record<string, readonly string[]>>

/** Values of every task. A request cannot override them. */
export interface ExecBuiltins {
  task_id: string
  description: string
  root: string
}

export const execBuiltins = ({id, description}: Pick<Task, 'id' | 'description'>, root: string): ExecBuiltins => ({
  task_id: String(id),
  description,
  root,
})

/** Placeholders of a template, each once, that only a request can fill. */
export function unfilledPlaceholders(argv: readonly string[]): string[] {
  const builtins = execBuiltins({id: 0, description: ''}, '')
  return [...new Set(argv.flatMap(placeholdersOf))].filter((name) => !Object.hasOwn(builtins, name))
}

const placeholder = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/**
 * Resolves the command line of a request. Each placeholder is replaced once within its own argument, so that no value
 * can add an argument or another placeholder. The program comes from the template alone. Other braces are kept.
 * @param request undefined if the task has none
 * @throws exec_template_missing, exec_template_unknown, exec_template_invalid, exec_params_missing,
 *   exec_params_unused, exec_param_invalid
 *
 * @example resolveArgv({template: 'test', params: {file: 'a.js'}}, {test: ['node', '--test', '{file}']}, builtins)
 */
export function resolveArgv(
  request: ExecRequest | undefined,
  templates: ExecTemplates,
  builtins: ExecBuiltins,
): [program: string, ...args: string[]] {
  if (request === undefined) throw new SvcError('exec_template_missing', {})
  const {template, params} = request
  const [program, ...args] = findTemplate(template, templates)
  const values = valuesOf(template, params, builtins)
  const used = new Set(args.flatMap(placeholdersOf))
  checkNames(template, used, Object.keys(params), values)
  for (const name of used)
    if (values.get(name)?.includes('\0'))
      throw new SvcError('exec_param_invalid', {template, name, reason: 'it contains a NUL character'})
  refuseOptions(template, args, values)
  return [program, ...args.map((arg) => arg.replace(placeholder, (whole, name) => values.get(name) ?? whole))]
}

/** A value at the start of an argument must not become an option of the program; after `--` there are no options. */
function refuseOptions(template: string, args: readonly string[], values: ReadonlyMap<string, string>): void {
  const end = args.indexOf('--')
  for (const arg of end === -1 ? args : args.slice(0, end)) {
    const [first = ''] = placeholdersOf(arg)
    if (arg.startsWith(`{${first}}`) && first !== '' && values.get(first)?.startsWith('-'))
      throw new SvcError('exec_param_invalid', {
        template,
        name: first,
        reason: 'it begins with a dash, and the template has no -- before it',
      })
  }
}

function findTemplate(template: string, templates: ExecTemplates): [program: string, ...args: string[]] {
  if (!Object.hasOwn(templates, template))
    throw new SvcError('exec_template_unknown', {template, suggestion: nearest(template, Object.keys(templates))})
  const invalid = (reason: string) => new SvcError('exec_template_invalid', {template, reason})
  const [program = '', ...args] = templates[template] ?? []
  if (program === '') throw invalid('it names no program')
  if (placeholdersOf(program).length > 0) throw invalid('its program is a placeholder, which a task could set')
  if ([program, ...args].some((part) => part.includes('\0'))) throw invalid('it contains a NUL character')
  return [program, ...args]
}

const placeholdersOf = (part: string): string[] => [...part.matchAll(placeholder)].map(([, name = '']) => name)

function valuesOf(template: string, params: ExecRequest['params'], builtins: ExecBuiltins): Map<string, string> {
  const reserved = Object.keys(builtins).find((name) => Object.hasOwn(params, name))
  if (reserved !== undefined)
    throw new SvcError('exec_param_invalid', {
      template,
      name: reserved,
      reason: 'the name is reserved for a built-in value',
    })
  return new Map([...Object.entries(params), ...Object.entries(builtins)])
}

function checkNames(
  template: string,
  used: ReadonlySet<string>,
  provided: readonly string[],
  values: ReadonlyMap<string, string>,
): void {
  const missing = [...used].filter((name) => !values.has(name))
  const unused = provided.filter((name) => !used.has(name))
  const [first] = unused
  // A misspelt name is both missing and unused: reporting the unused one is more helpful.
  if (first !== undefined)
    throw new SvcError('exec_params_unused', {template, names: unused, suggestion: nearest(first, missing)})
  if (missing.length > 0) throw new SvcError('exec_params_missing', {template, names: missing})
}

/** The commands that a workspace allows tasks to run. */
export interface ExecPolicy {
  root: string
  templates: ExecTemplates
  enabled: boolean
  /** Environment variables that a task can request. */
  secrets: readonly string[]
}

/**
 * Resolves the command line of a task. Called before the task is accepted and again before it runs, since the
 * configuration may have changed in between.
 * @throws exec_disabled, exec_secret_unlisted, what `resolveArgv` throws
 */
export function planExec(
  task: Pick<Task, 'id' | 'description' | 'exec'>,
  {enabled, templates, root, secrets}: ExecPolicy,
): ReturnType<typeof resolveArgv> {
  if (!enabled) throw new SvcError('exec_disabled', {})
  if (task.exec !== undefined) requireListedSecrets(task.exec, secrets)
  return resolveArgv(task.exec, templates, execBuiltins(task, root))
}
