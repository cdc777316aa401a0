import type {FileOutcomesV1, RuntimeGenerationKpiV1} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {containedOutput} from '../../files/index.js'
import type {ChatMessage} from '../../inference-client/index.js'
import {type Model, withModel} from '../ask-model.js'
import type {Assistant} from '../assistant.js'
import {type AssistantTools, type UsedTool, withTools} from '../tool-rounds.js'
import {answerPatterns} from './answer-pattern.js'
import type {Attempt, Rejected} from './attempt.js'
import {type CodeFinding, judge} from './judge.js'
import {programComplaint, repairMessages, surfaceComplaint, systemPrompt} from './prompt.js'
import {type CodeSurface, categoryOf, type FailureCategory, kpiOf} from './report.js'
import {readSurface, type SurfaceMode} from './surface.js'
import {writeProgram} from './write-program.js'

export interface CodeRequest {
  readonly prompt: string
  /** Check the program with the data language. Default: true. */
  readonly validate?: boolean | undefined
  /** From 0 to 5. Default: 2. */
  readonly maxRetries?: number | undefined
  readonly surfaceMode?: SurfaceMode | undefined
  /** Output file, relative to the root of the workspace; an existing file is replaced. */
  readonly outputPath?: string | undefined
  readonly journeyId: string
  readonly sessionId?: string | undefined
  readonly traceId?: string | undefined
  readonly surface: CodeSurface
}

export type CodeOutcome =
  | {ok: true; code: string; kpi: RuntimeGenerationKpiV1; fileOutcomes?: FileOutcomesV1; used: readonly UsedTool[]}
  | {
      ok: false
      /** surface_contract, repair_stalled or validation_failed */
      error: SvcError
      kpi: RuntimeGenerationKpiV1
      /** Problems of the last program; empty if there was none. */
      findings: readonly CodeFinding[]
      repair: {attempts: number; stalled?: true; failure_category: FailureCategory}
    }

export interface CodeHooks {
  signal: AbortSignal
  /** Called with the number of an attempt, from 1, before it starts. */
  onAttempt?: (attempt: number, max: number) => void
  /** Tools that the model may call. */
  tools?: AssistantTools | undefined
}

/** Token limit and temperature of a program. */
const maxTokens = 2048
const temperature = 0.1

/**
 * Generates a program of the data language with a model. An answer that does not have the requested form or has errors
 * is returned to the model with the problems. Two consecutive programs with the same errors end the repair. The file is
 * only written on success.
 * @throws path_denied, output_exists; errors of the model call; the abort reason of the signal
 */
export async function generateCode(assistant: Assistant, request: CodeRequest, hooks: CodeHooks): Promise<CodeOutcome> {
  const {outputPath, journeyId, sessionId, traceId} = request
  if (outputPath !== undefined) await containedOutput(assistant.root, outputPath)
  const work = {
    surface: 'generate_code',
    category: 'codegen',
    complexity: 5,
    economy: false,
    journeyId,
    sessionId,
    traceId,
  } as const
  const used: UsedTool[] = []
  return withModel(assistant, work, hooks.signal, async (plain) => {
    const model = hooks.tools === undefined ? plain : withTools(plain, hooks.tools, used)
    const attempts = await attemptAll(model, request, hooks)
    const last = attempts.at(-1) as Attempt
    const kpi = kpiOf(request, attempts)
    if (last.kind !== 'accepted') return failure(model.name, attempts.length, last, kpi)
    hooks.signal.throwIfAborted()
    const accepted = {ok: true, code: last.code, kpi, used} as const
    if (outputPath === undefined) return accepted
    return {...accepted, fileOutcomes: await writeProgram(assistant.root, outputPath, last.code)}
  })
}

async function attemptAll(model: Model, request: CodeRequest, {signal, onAttempt}: CodeHooks): Promise<Attempt[]> {
  const {prompt, validate = true, maxRetries = 2, surfaceMode = 'raw_code_only'} = request
  const first: ChatMessage[] = [
    {role: 'system', content: systemPrompt(surfaceMode)},
    {role: 'user', content: prompt},
  ]
  const begunMs = performance.now()
  const attempts: Attempt[] = []
  let messages: readonly ChatMessage[] = first
  while (attempts.length <= maxRetries) {
    onAttempt?.(attempts.length + 1, maxRetries + 1)
    const {text, cutOff, outputTokens} = await model.ask({
      messages,
      temperature,
      maxTokens,
      pattern: answerPatterns[surfaceMode],
    })
    signal.throwIfAborted()
    const call = {outputTokens, atMs: Math.round(performance.now() - begunMs)}
    const surface = cutOff && surfaceMode === 'raw_code_only' ? tooLong : await readSurface(text, surfaceMode, validate)
    if ('reason' in surface) {
      attempts.push({...call, kind: 'surface', reason: surface.reason})
      messages = repairMessages(first, text, surfaceComplaint(surface), surfaceMode)
      continue
    }
    const {program} = surface
    const judgement = validate ? await judge(program) : undefined
    if (judgement === undefined || judgement.isValid) {
      attempts.push({...call, kind: 'accepted', code: program.source, judgement})
      break
    }
    const before = attempts.at(-1)
    const isStalled = before?.kind === 'invalid' && before.judgement.signature === judgement.signature
    attempts.push({...call, kind: 'invalid', judgement, isStalled})
    if (isStalled) break
    messages = repairMessages(first, text, programComplaint(judgement.rendered), surfaceMode)
  }
  return attempts
}

const tooLong = {reason: `the answer was cut off at ${maxTokens} tokens`}

const codes = {
  surface_contract: 'surface_contract',
  repair_stall: 'repair_stalled',
  semantic: 'validation_failed',
} as const

function failure(model: string, attempts: number, last: Rejected, kpi: RuntimeGenerationKpiV1): CodeOutcome {
  const category = categoryOf(last)
  const findings = last.kind === 'surface' ? [] : last.judgement.findings
  const reason = last.kind === 'surface' ? last.reason : reasonOf(findings)
  return {
    ok: false,
    error: new SvcError(codes[category], {attempts, category, model, reason}),
    kpi,
    findings,
    repair: {attempts, ...(category === 'repair_stall' ? {stalled: true} : {}), failure_category: category},
  }
}

/** The first error as a clause, and the number of further ones. */
function reasonOf([first, ...more]: readonly CodeFinding[]): string {
  const clause = first === undefined ? 'it has errors' : `${first.code}: ${first.message.replace(/\.$/, '')}`
  return more.length === 0 ? clause : `${clause}, and ${more.length} more`
}
