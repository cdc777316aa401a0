import type {TaskResult} from '../base/task.js'
import type {AcceptanceClaim, Attestation} from '../gates/evidence.js'
import {normalisePath} from '../submission/manifest.js'

const isText = (value: unknown): value is string => typeof value === 'string'

const filled = <T>(list: T[]): T[] | undefined => (list.length === 0 ? undefined : list)

const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? filled(value.filter(isText)) : undefined

function acceptance(value: unknown): AcceptanceClaim[] | undefined {
  if (!Array.isArray(value)) return undefined
  return filled(
    value.flatMap((item) => {
      if (isText(item)) return parseAcceptance(item)
      const {line, check, file} = (item ?? {}) as Record<string, unknown>
      if (!isText(line) && typeof line !== 'number') return []
      return [{line, ...(isText(check) ? {check} : {}), ...(isText(file) ? {file} : {})}]
    }),
  )
}

/** A path as manifests have it; a path outside the workspace is kept as it is and matches no file. */
function pathIn(root: string, path: string): string {
  try {
    return normalisePath(root, path)
  } catch {
    return path
  }
}

/** Reads `LINE=check:NAME` or `LINE=file:PATH`; the line is its position from 1, or its text. */
function parseAcceptance(text: string): AcceptanceClaim[] {
  const [, line = '', kind, name = ''] = /^(.*)=(check|file):(.+)$/s.exec(text) ?? []
  return kind === undefined ? [] : [{line: line.trim(), [kind]: name.trim()}]
}

/**
 * The attestation in the result of an agent; its summary is the text. Members of another type are ignored.
 * @param root of the workspace, to which paths are relative
 */
export function attestationOf(root: string, result: TaskResult | undefined): Attestation {
  if (result === undefined) return {}
  const {text, ...members} = result as TaskResult & Record<string, unknown>
  const read = {
    completion_summary: text.trim() === '' ? undefined : text,
    checks_passed: texts(members.checks_passed),
    evidence_citations: texts(members.evidence_citations),
    artifact_paths: texts(members.artifact_paths)?.map((path) => pathIn(root, path)),
    declared_non_placeholder: members.declared_non_placeholder === true ? true : undefined,
    force_risky: members.force_risky === true ? true : undefined,
    force_risky_reason: isText(members.force_risky_reason) ? members.force_risky_reason : undefined,
    no_change_needed: isText(members.no_change_needed) ? members.no_change_needed : undefined,
    observation_summary: isText(members.observation_summary) ? members.observation_summary : undefined,
    acceptance: acceptance(members.acceptance),
  }
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined))
}
