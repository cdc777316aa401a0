import {excerpt} from '../../errors/index.js'
import type {Finding} from '../base/finding.js'
import {citationsOf, withoutCitations} from './citations.js'
import {factualClauses} from './clauses.js'
import {type CheckResult, type CompletionEvidence, isAtLeast} from './evidence.js'
import {type Figure, figuresIn} from './figures.js'
import {error, info, quote} from './findings.js'
import type {Gate} from './gate.js'
import {isChanged} from './harness-state.js'

/** Requires that the evidence contains the citations and figures of the summary. */
export const grounding: Gate = {
  name: 'grounding',
  family: 'socrates',
  mode({config}) {
    if (config.completionGroundingEnforce) return 'enforce'
    return config.completionGroundingShadow ? 'shadow' : 'off'
  },
  relaxes: () => true,
  evaluate(evidence) {
    const {declared, matched} = citationsOf(evidence)
    const isComparable = hasReference(evidence)
    if (evidence.context === undefined && declared.length === 0 && !isComparable)
      return [info('grounding/no_evidence_context', 'The task has no evidence to compare the summary with.')]
    const clauses = factualClauses(withoutCitations(evidence.summary))
    return [
      ...undeclared(evidence, declared, clauses),
      ...unmatched(declared, matched),
      ...(isComparable ? unfoundFigures(evidence, clauses) : []),
    ]
  },
}

function undeclared({context}: CompletionEvidence, declared: readonly string[], clauses: readonly string[]): Finding[] {
  const needs = context?.factual_mode === true && context.required_citations > 0
  if (!needs || declared.length > 0 || clauses.length === 0) return []
  return [
    error(
      'grounding/factual_without_declarations',
      'The summary states facts without a source. List the sources in evidence_citations.',
    ),
  ]
}

function unmatched(declared: readonly string[], matched: readonly string[]): Finding[] {
  const found = new Set(matched)
  return declared
    .filter((citation) => !found.has(citation))
    .map((citation) =>
      error(
        'grounding/declared_not_in_envelope',
        `The evidence of the task does not contain the citation ${quote(citation)}. Cite a source from the evidence.`,
      ),
    )
}

/** Output that `svc` recorded. */
const outputs = (checks: readonly CheckResult[]): string[] =>
  checks.flatMap(({grade, output = ''}) => (isAtLeast(grade, 'observed') && output !== '' ? output : []))

const hasReference = ({envelopeText, checks}: CompletionEvidence): boolean =>
  envelopeText !== undefined || outputs(checks).length > 0

function unfoundFigures(evidence: CompletionEvidence, clauses: readonly string[]): Finding[] {
  const known = new Set(knownFigures(evidence).map(({key}) => key))
  const unknown = new Map<string, {figure: Figure; clause: string}>()
  for (const clause of clauses)
    for (const figure of figuresIn(clause))
      if (!known.has(figure.key) && !unknown.has(figure.key)) unknown.set(figure.key, {figure, clause})
  return [...unknown.values()].map(({figure, clause}) =>
    error(
      'grounding/figure_not_in_evidence',
      `The evidence of the task does not contain the figure ${excerpt(figure.text, 40)} in ${quote(clause)}. Correct or remove it.`,
    ),
  )
}

function knownFigures({task, files, checks, harness, envelopeText = ''}: CompletionEvidence): Figure[] {
  const changed = files.filter(isChanged)
  const passed = checks.filter((check) => check.passed)
  const counts = [
    changed.length,
    ...(['created', 'modified', 'deleted'] as const).map((kind) => files.filter(({change}) => change === kind).length),
    checks.length,
    passed.length,
    checks.length - passed.length,
  ]
  const texts = [
    envelopeText,
    ...outputs(checks),
    task.description,
    ...harness.accept,
    ...[...files, ...task.file_manifest].map(({path}) => path),
    counts.join(' '),
  ]
  return texts.flatMap(figuresIn)
}
