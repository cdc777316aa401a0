import {maxDurationMs, readDuration} from '../../config/index.js'
import type {WorkflowStep} from '../../contracts/index.js'
import type {Activity} from './definition.js'
import {ExpressionFailure} from './expression.js'
import {hasExpression, type Template} from './template.js'

/** Compiles a part of a step. */
type Compile = <T>(value: T) => Template<T>

/** How a key of a step becomes an activity. */
export type Reader<K extends keyof WorkflowStep> = (
  value: NonNullable<WorkflowStep[K]>,
  compile: Compile,
  step: WorkflowStep,
) => Activity

const defaultResponseBytes = 1 << 20

/** How shells run a script: they stop at the first command that fails. */
const shells = {sh: ['sh', '-e', '-c'], bash: ['bash', '-e', '-o', 'pipefail', '-c']} as const

const mesh = (operation: 'noop' | 'join' | 'snapshot' | 'heartbeat') => (): Activity => ({
  kind: 'mesh',
  args: () => ({operation, receiver: undefined, type: undefined, payload: undefined}),
})

/** The activities of a workflow file, by their key in a step. */
export const activityReaders = {
  exec: (command, compile, {env = {}, json = false, shell, cwd}) => {
    const args = compile({argv: typeof command === 'string' ? [] : command, env, cwd})
    const script = typeof command === 'string' ? [...shells[shell === 'bash' ? 'bash' : 'sh'], command] : []
    return {
      kind: 'exec',
      args: (scope) => {
        const {argv: values, env: variables, cwd: folder} = args(scope)
        const argv = [...script, ...values.map(asText)]
        return {argv, env: mapValues(variables, asText), json, ...(folder === undefined ? {} : {cwd: asText(folder)})}
      },
    }
  },
  task: (task, compile) => ({
    kind: 'task',
    args: compile(typeof task === 'string' ? {description: task} : task) as never,
  }),
  http: ({url, method = 'GET', headers = {}, body, max_bytes: maxBytes = defaultResponseBytes}, compile) => {
    const args = compile({url, headers, body})
    return {
      kind: 'http',
      args: (scope) => {
        const {headers: values, ...rest} = args(scope)
        return {...rest, headers: mapValues(values, asText), method, maxBytes}
      },
    }
  },
  transcribe: (request, compile) => {
    const {file, language} = typeof request === 'string' ? {file: request, language: undefined} : request
    return {kind: 'transcribe', args: compile({file, language})}
  },
  generate: (request, compile, {json = false}) => {
    const {
      prompt,
      system,
      temperature,
      max_tokens: maxTokens,
    } = typeof request === 'string' ? {prompt: request} : request
    const args = compile({prompt, system})
    return {kind: 'generate', args: (scope) => ({...args(scope), temperature, maxTokens, json}) as never}
  },
  value: (value, compile) => ({kind: 'value', args: compile({value}) as never}),
  timer: (timer) => {
    const ms = durationMs(timer)
    return {kind: 'timer', args: () => ({ms})}
  },
  signal: (key, compile) => ({kind: 'signal', args: compile({key})}),
  approval: (prompt, compile, {id = ''}) => {
    const args = compile({prompt})
    return {kind: 'approval', args: (scope) => ({...args(scope), key: id})}
  },
  mesh_noop: mesh('noop'),
  mesh_join: mesh('join'),
  mesh_snapshot: mesh('snapshot'),
  mesh_heartbeat: mesh('heartbeat'),
  mesh_dispatch: ({receiver, type, payload}, compile) => ({
    kind: 'mesh',
    args: compile({operation: 'dispatch' as const, receiver, type, payload}) as never,
  }),
  mesh_wait: ({receiver, type}, compile) => ({
    kind: 'mesh',
    args: compile({operation: 'wait' as const, receiver, type, payload: undefined}) as never,
  }),
  patch: ({change, min = 1, max = 1}) => ({kind: 'patch', args: () => ({change, min, max})}),
} satisfies {[K in keyof WorkflowStep]?: Reader<K>}

export type ActivityKey = keyof typeof activityReaders

/** The reason why an activity of a file is invalid although it matches the schema. */
export function activityFault(key: ActivityKey, step: WorkflowStep): string | undefined {
  if (key === 'exec') {
    const fault = execFault(step)
    if (fault !== undefined) return fault
  }
  if (key === 'approval' && step.id === undefined) return 'an approval needs an id, which is the key of its signal'
  if (key === 'patch' && (step.patch?.min ?? 1) > (step.patch?.max ?? 1)) return 'min of patch is greater than max'
  const misplaced = key === 'exec' ? undefined : (['env', 'cwd', 'shell'] as const).find((name) => name in step)
  if (misplaced !== undefined) return `${misplaced} belongs to exec`
  if (step.json !== undefined && key !== 'exec' && key !== 'generate') return 'json belongs to exec and generate'
  return undefined
}

/** A value in a script would be read as code, so scripts get their values as variables. */
function execFault({exec = [], shell}: WorkflowStep): string | undefined {
  if (typeof exec === 'string') {
    if (shell === undefined) return 'exec must be a list of the program and its arguments, or needs shell: true'
    return hasExpression(exec) ? 'a script must not contain an expression; pass its value in env' : undefined
  }
  if (shell !== undefined) return 'with shell, exec must be one text'
  return hasExpression(exec[0] ?? '') ? 'the program of exec must not be an expression' : undefined
}

/**
 * A duration of a workflow file, whose form its schema has checked: integer ms, or text such as `500ms` or `1.5s`.
 * @throws ExpressionFailure if it is longer than 1000 years
 */
export function durationMs(value: number | string): number {
  const ms = typeof value === 'number' ? value : readDuration(value)
  if (ms === undefined || ms > maxDurationMs)
    throw new ExpressionFailure(`the duration ${value} is longer than 1000 years`)
  return ms
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const mapValues = <T, U>(values: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]))
