import {isDeepStrictEqual} from 'node:util'
import {
  contractSchema,
  type HarnessSpecV1,
  plainViolations,
  type Schema,
  type SubmitTaskV1,
} from '../../contracts/index.js'
import {execBuiltins, planExec, unfilledPlaceholders} from '../../exec/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Task} from '../base/task.js'
import {parseObject} from '../context/envelope.js'
import {normalisePath} from './manifest.js'

type Harness = NonNullable<Task['harness']>
type Refuse = (fault: string) => never

const contract = 'orchestration/harness-spec.v1'
let schema: Schema | undefined

const limits = {lines: 100, characters: 2000}

/**
 * The harness of a submission: its specification, with the acceptance lines of both sources. Undefined if it requires
 * nothing.
 * @throws task_invalid (by `refuse`), task_path_escapes, exec_disabled, exec_template_invalid, exec_param_invalid
 */
export function readHarness(
  submission: SubmitTaskV1,
  context: Pick<WorkspaceContext, 'root' | 'config'>,
  refuse: Refuse,
): Harness | undefined {
  const spec = readSpec(submission, refuse)
  const checks = (spec.required_checks ?? []).map((each) => (typeof each === 'string' ? {check: each} : {...each}))
  const accept = acceptanceLines([...(submission.accept ?? []), ...(spec.accept ?? [])], refuse)
  const artifacts = (spec.required_artifacts ?? []).map((path) => normalisePath(context.root, path))
  for (const {check} of checks) requireCheck(check, submission.description, context, refuse)
  if (checks.length === 0 && artifacts.length === 0 && accept.length === 0) return undefined
  return {required_checks: checks, required_artifacts: [...new Set(artifacts)], accept}
}

function readSpec({harness_spec_json, enqueue_hints: hints}: SubmitTaskV1, refuse: Refuse): HarnessSpecV1 {
  const [spec, alias] = [harness_spec_json, hints?.harness_spec_json].map((text) => parseSpec(text, refuse))
  if (spec !== undefined && alias !== undefined && !isDeepStrictEqual(spec, alias))
    refuse('its two members harness_spec_json differ; specify only one of them')
  return spec ?? alias ?? {}
}

/** Blank text counts as missing. */
function parseSpec(text: string | undefined, refuse: Refuse): HarnessSpecV1 | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const spec = parseObject(text)
  if (typeof spec === 'string') return refuse(`its harness_spec_json ${spec}`)
  schema ??= contractSchema(contract)
  const violations = plainViolations(schema, spec).slice(0, 8)
  if (violations.length > 0)
    refuse(`its harness_spec_json does not match the contract ${contract} (${violations.join('; ')})`)
  return spec as HarnessSpecV1
}

function acceptanceLines(lines: readonly string[], refuse: Refuse): string[] {
  const unique = [...new Set(lines.map((line) => line.trim()))]
  if (unique.includes('')) refuse('an acceptance line is blank')
  if (unique.length > limits.lines) refuse(`it has ${unique.length} acceptance lines; the limit is ${limits.lines}`)
  const long = unique.find(({length}) => length > limits.characters)
  if (long !== undefined) refuse(`an acceptance line has ${long.length} characters; the limit is ${limits.characters}`)
  return unique
}

/** A check is a command template that runs without values from the task. */
function requireCheck(
  check: string,
  description: string,
  {root, config}: Pick<WorkspaceContext, 'root' | 'config'>,
  refuse: Refuse,
): void {
  const {templates, enabled, secrets} = config.exec
  const task = {id: 0, description, exec: {template: check, params: {}}}
  if (enabled && !Object.hasOwn(templates, check)) {
    const names = Object.keys(templates).filter((name) => unfilledPlaceholders(templates[name] ?? []).length === 0)
    const known =
      names.length === 0 ? 'the workspace has none that can be a check' : `expected one of: ${names.join(', ')}`
    refuse(`its check ${check} is not a command template; ${known}`)
  }
  const unfilled = enabled ? unfilledPlaceholders(templates[check] ?? []) : []
  if (unfilled.length > 0) {
    const names = unfilled.map((name) => `{${name}}`).join(', ')
    const builtins = Object.keys(execBuiltins(task, root)).map((name) => `{${name}}`)
    refuse(`its check ${check} is a command template with ${names}; a check can only use ${builtins.join(', ')}`)
  }
  planExec(task, {root, templates, enabled, secrets})
}
