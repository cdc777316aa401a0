import {readFile} from 'node:fs/promises'
import {
  findViolations,
  readDocument,
  type WorkflowDefinition,
  type WorkflowFile,
  type WorkflowStep,
} from '../../contracts/index.js'
import {counted, isErrorOf, nearest, SvcError} from '../../errors/index.js'
import {type LocatedDocument, readYaml, yamlFault} from '../../files/index.js'
import {Lines, type TextDiagnostic} from '../../lang/index.js'
import {compileDefinition, type Fault, partOf} from './compile.js'
import type {Workflow} from './definition.js'

const maxFileBytes = 1 << 20

/** A workflow file and everything that is wrong with it. */
export interface CheckedWorkflows {
  readonly source: string
  /** Empty if something is wrong. */
  readonly workflows: readonly Workflow[]
  /** By position. */
  readonly findings: readonly TextDiagnostic[]
}

/**
 * Reads a workflow file: YAML, or JSON if its name does not end in .yaml or .yml.
 * @param text of the file, if it has been read already; always YAML
 * @throws file_not_found, file_unreadable, document_unparsable, workflow_invalid with the place of the first fault
 */
export async function readWorkflows(file: string, text?: string): Promise<readonly Workflow[]> {
  const {source, workflows, findings} = await checkWorkflows(file, text)
  const [first, ...others] = findings
  if (first === undefined) return workflows
  const {line, col} = new Lines(source).at(first.start)
  const place = `${file}:${line}:${col}`
  const more = others.length === 0 ? '' : ` (and ${counted(others.length, 'more error')})`
  const reason = `${first.message.replace(/\.$/, '')}${more}`
  if (first.code === 'document_unparsable') throw new SvcError(first.code, {subject: place, reason})
  throw new SvcError('workflow_invalid', {place, reason})
}

/**
 * Reads and checks a workflow file.
 * @param text of the file, if it has been read already; always YAML
 * @throws file_not_found, file_unreadable; workflow_invalid if it is too large
 */
export async function checkWorkflows(file: string, text?: string): Promise<CheckedWorkflows> {
  const read = () =>
    readFile(file, 'utf8').catch((error: unknown) => {
      throw SvcError.from(Object.assign(error as Error, {path: file}))
    })
  const source = text ?? (await read())
  if (source.length > maxFileBytes)
    throw new SvcError('workflow_invalid', {place: file, reason: `it is larger than ${maxFileBytes} bytes`})
  const invalid = (findings: readonly TextDiagnostic[]): CheckedWorkflows => ({
    source,
    workflows: [],
    findings: [...findings].sort((a, b) => a.start - b.start),
  })
  let document: LocatedDocument
  try {
    document = await readLocated(source, text === undefined ? file : '.yaml')
  } catch (error) {
    if (!isErrorOf(error, 'document_unparsable')) throw error
    const {message, ...range} = yamlFault((error as Error).cause as Error)
    const reason = message.replace(/\.$/, '') + toQuote(source, range.start)
    return invalid([{...range, code: 'document_unparsable', severity: 'error', message: `${reason}.`}])
  }
  const violations = await findViolations('workflow/workflow.v1', document.value)
  if (violations.length > 0)
    return invalid(
      violations.map(({path, part, message, suggestion}) => ({
        ...document.locate(path, part),
        code: 'workflow_invalid',
        severity: 'error',
        message,
        ...(suggestion === undefined ? {} : {hints: [`Did you mean ${suggestion}?`]}),
      })),
    )
  const compiled = Object.entries((document.value as WorkflowFile).workflows).map(([name, definition]) => {
    const {workflow, faults} = compileDefinition(name, withoutExtensions(definition))
    return {workflow, findings: faults.map((fault) => locate(fault, ['workflows', name], document, source))}
  })
  const findings = compiled.flatMap((each) => each.findings)
  if (findings.length > 0) return invalid(findings)
  return {source, workflows: compiled.map(({workflow}) => workflow), findings}
}

/** Reads a document with the places of its values; JSON is a subset of YAML. @throws document_unparsable */
async function readLocated(source: string, file: string): Promise<LocatedDocument> {
  const value = await readDocument(source, file)
  try {
    return {...(await readYaml(source)), value}
  } catch {
    return {value, locate: () => ({start: 0, end: 0})}
  }
}

/** Names the cause if YAML cannot be parsed because of the braces of an expression in the line of a position. */
function toQuote(source: string, at: number): string {
  const line = source.slice(source.lastIndexOf('\n', at - 1) + 1).split('\n', 1)[0] ?? ''
  const [, expression] = /(?<!["'])(\$\{\{[^"']*?\}\})/.exec(line) ?? []
  return expression === undefined ? '' : `; quote the text that contains ${expression}, such as "${expression}"`
}

/** Finds the place of a fault in a file: that of the part of an expression, if its text occurs in the step. */
function locate(
  {step, path, reason, finding}: Fault,
  root: readonly string[],
  document: LocatedDocument,
  source: string,
): TextDiagnostic {
  const range = document.locate([...root, ...path], typeof path.at(-1) === 'number' ? 'value' : 'key')
  const part = partOf(step)
  const base = {
    ...range,
    code: 'workflow_invalid',
    severity: 'error',
    message: `${part.charAt(0).toUpperCase()}${part.slice(1)}: ${reason.replace(/\.$/, '')}.`,
  } as const
  if (finding === undefined) return base
  const {expression, fixes = [], related: _, ...found} = finding
  const at = source.indexOf(expression, range.start)
  if (at === -1) return {...base, code: found.code, hints: found.hints ?? []}
  const moved = <S extends {start: number; end: number}>(span: S): S => ({
    ...span,
    start: at + span.start,
    end: at + span.end,
  })
  return {...moved(found), fixes: fixes.map(moved)}
}

/** Keys for the own use of a file, such as anchors. They are no part of a workflow, whose runs would else notice changes. */
const isExtension = (key: string): boolean => key.startsWith('x-')

const plain = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !isExtension(key))) as T

const withoutExtensions = (definition: WorkflowDefinition): WorkflowDefinition => ({
  ...plain(definition),
  steps: definition.steps.map(plainStep) as WorkflowDefinition['steps'],
})

function plainStep(step: WorkflowStep): WorkflowStep {
  const {then, else: otherwise, steps, parallel, compensate, ...rest} = plain(step)
  const list = (inner: readonly WorkflowStep[]) => inner.map(plainStep) as WorkflowDefinition['steps']
  return {
    ...rest,
    ...(then === undefined ? {} : {then: list(then)}),
    ...(otherwise === undefined ? {} : {else: list(otherwise)}),
    ...(steps === undefined ? {} : {steps: list(steps)}),
    ...(parallel === undefined
      ? {}
      : {parallel: Object.fromEntries(Object.entries(parallel).map(([name, inner]) => [name, list(inner)]))}),
    ...(compensate === undefined ? {} : {compensate: plainStep(compensate)}),
  }
}

/** The workflow with a name; the name is optional in a file with one workflow. @throws workflow_unknown */
export function findWorkflow(workflows: readonly Workflow[], file: string, name: string | undefined): Workflow {
  const [first, ...others] = workflows
  const names = workflows.map((each) => each.name)
  const found = name === undefined && others.length === 0 ? first : workflows.find((each) => each.name === name)
  if (found !== undefined) return found
  throw new SvcError('workflow_unknown', {file, name, names, suggestion: name && nearest(name, names)})
}
