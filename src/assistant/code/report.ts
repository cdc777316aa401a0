import type {Attempt, Rejected} from './attempt.js'

/** Through which surface a program is wished for. */
export type CodeSurface = 'svc-cli' | 'mcp' | 'daemon'

/** Why no program came of it. */
export type FailureCategory = 'surface_contract' | 'repair_stall' | 'semantic'

/** How the writing of a program went: the contract `codegen/runtime-generation-kpi.v1`. */
export interface GenerationKpi {
  schema: 'svc_runtime_generation_kpi_v1'
  schema_version: 1
  surface: CodeSurface
  success: boolean
  validate_requested: boolean
  /** Null where nobody looked. */
  compile_pass: boolean | null
  canonical_pass: boolean | null
  attempts: number
  repair_stalled: boolean
  /** Null where no program was found to be valid. */
  time_to_first_valid_ms: number | null
  /** Of all attempts. */
  output_tokens: number
  surface_contract_failures: number
  strictness_failures: number
  failure_category?: FailureCategory
}

/** The file that was written: the contract `codegen/file-outcomes.v1`. */
export interface FileOutcomes {
  schema: 'svc_generate_code_file_outcomes_v1'
  schema_version: 1
  written_paths: string[]
  bytes_written: number
  artifact_kind: 'svc_generated'
}

/** @param attempts one at least, in their order */
export function kpiOf(
  {surface, validate = true}: {surface: CodeSurface; validate?: boolean | undefined},
  attempts: readonly Attempt[],
): GenerationKpi {
  const last = attempts.at(-1) as Attempt
  const judgement = last.kind === 'surface' ? undefined : last.judgement
  const category = last.kind === 'accepted' ? undefined : categoryOf(last)
  return {
    schema: 'svc_runtime_generation_kpi_v1',
    schema_version: 1,
    surface,
    success: last.kind === 'accepted',
    validate_requested: validate,
    compile_pass: judgement?.isValid ?? null,
    canonical_pass: judgement?.isCanonical ?? null,
    attempts: attempts.length,
    repair_stalled: category === 'repair_stall',
    time_to_first_valid_ms: judgement?.isValid ? last.atMs : null,
    output_tokens: attempts.reduce((sum, {outputTokens}) => sum + outputTokens, 0),
    surface_contract_failures: attempts.filter(({kind}) => kind === 'surface').length,
    strictness_failures: attempts.filter((each) => each.kind === 'invalid' && each.judgement.isOnlyStrict).length,
    ...(category === undefined ? {} : {failure_category: category}),
  }
}

export function categoryOf(last: Rejected): FailureCategory {
  if (last.kind === 'surface') return 'surface_contract'
  return last.isStalled ? 'repair_stall' : 'semantic'
}
