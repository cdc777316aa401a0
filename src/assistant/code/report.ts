import type {RuntimeGenerationKpiV1} from '../../contracts/index.js'
import type {Attempt, Rejected} from './attempt.js'

/** The surface that requested a program. */
export type CodeSurface = RuntimeGenerationKpiV1['surface']

/** Why generation failed. */
export type FailureCategory = NonNullable<RuntimeGenerationKpiV1['failure_category']>

/** @param attempts at least one, in order */
export function kpiOf(
  {surface, validate = true}: {surface: CodeSurface; validate?: boolean | undefined},
  attempts: readonly Attempt[],
): RuntimeGenerationKpiV1 {
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
