import {clearDecision, type ListenV1, type TranscribeV1} from '../contracts/index.js'
import {containedOutput} from '../files/index.js'
import type {
  CallHooks,
  ListenRequest,
  OperationContext,
  SpeechPort,
  SpeechToCode,
  SpokenCode,
  TranscribeRequest,
} from '../operations/index.js'
import type {HeardRecording, SpeechService} from '../speech/index.js'
import {listenPayload} from './listen-payload.js'
import type {ResolveModel} from './polish/ask-model.js'
import {noEditor} from './routing/editor-context.js'
import {Router} from './routing/router.js'
import {polishTranscript, routeTranscript, type TranscriptUse, transcriptUse} from './routing/use-transcript.js'
import {speechToCode} from './speech-to-code.js'
import {confirmWith, spokenPorts} from './spoken-operations.js'

/** The speech-to-text functions of operations: a service hears, and the workspace uses what was said. */
export class Voice implements Omit<SpeechPort, 'status'> {
  readonly #service: SpeechService
  readonly #resolveModel: ResolveModel
  readonly #router = new Router()

  /** @param resolveModel finds the language model that polishes transcripts and answers chats */
  constructor(service: SpeechService, resolveModel: ResolveModel) {
    this.#service = service
    this.#resolveModel = resolveModel
  }

  transcribe(request: TranscribeRequest, hooks: CallHooks): Promise<TranscribeV1> {
    return this.#service.transcribe(request, hooks)
  }

  /**
   * Transcribes a recording as a live session does. Then polishes and routes the complete text.
   * @throws what `SpeechService.listen` throws; disk_full, file_unwritable
   */
  async listen({confirmed, ...request}: ListenRequest, context: OperationContext): Promise<ListenV1> {
    const pairs = await this.#pairsFile(request, context)
    const confirm = clearDecision(confirmed) === true ? async () => true : confirmWith(context)
    return this.#service.listen(request, context, (heard) => this.#use(heard, request, pairs, context, confirm))
  }

  async #use(
    {session, result, settings, path, limits, language, signal}: HeardRecording,
    request: ListenRequest,
    pairs: TranscriptUse['pairs'],
    context: OperationContext,
    confirm: ReturnType<typeof confirmWith>,
  ): Promise<ListenV1> {
    const {polish, limits: routeLimits} = transcriptUse(settings.session)
    const use: TranscriptUse = {
      mode: request.route_mode ?? 'none',
      editor: noEditor,
      limits: routeLimits,
      polish: {
        ...polish,
        enabled: request.llm_refinement ?? polish.enabled,
        minConfidence: request.llm_min_det_confidence ?? polish.minConfidence,
        maxOutputTokens: request.llm_max_output_tokens ?? polish.maxOutputTokens,
      },
      pairs,
    }
    const polished = await polishTranscript(result.transcript, use, this.#resolveModel, signal)
    const ports = {
      ...spokenPorts(async () => context, confirm),
      router: this.#router,
      resolveModel: this.#resolveModel,
    }
    const used = {...(await routeTranscript(session.id, polished, use, ports, signal)), polished}
    const {
      runtime,
      session: {toolRouteMinConfidence: minConfidence},
    } = settings
    return {
      ...listenPayload(result, session, {path, limits, languageHint: language, minConfidence}, used),
      ...(request.debug_parser_payload === true ? {runtime_config: runtime} : {}),
    } as ListenV1
  }

  async #pairsFile(
    {emit_asr_refine_path: path}: ListenRequest,
    {modules, orchestrator, notice}: OperationContext,
  ): Promise<TranscriptUse['pairs']> {
    if (path === undefined) return undefined
    const policy = modules.workspace.confidencePolicy(orchestrator.config.socratesPolicy)
    const {minTrainingPairConfidence: minConfidence} = policy
    return {path: await containedOutput(this.#service.root, path), minConfidence, notice}
  }

  speechToCode(request: SpeechToCode, context: OperationContext): Promise<SpokenCode> {
    return speechToCode(request, context)
  }

  close(): Promise<void> {
    return this.#service.close()
  }
}
