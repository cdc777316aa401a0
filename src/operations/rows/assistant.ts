import type {MessageAnswer, SurfaceMode, Turn, UsedTool} from '../../assistant/index.js'
import type {FileOutcomesV1, RuntimeGenerationKpiV1} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {assistantTools} from '../assistant-tools.js'
import {openAssistantFor} from '../open-assistant.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, number, object, oneOf, text} from '../schema.js'
import {socrates} from '../shapes.js'
import {type ChatSocrates, chatSocratesOf} from '../socrates.js'
import {DetailedError, toolAnswer} from '../tool-answer.js'

const id = (maxLength: number): Record<string, unknown> => text(undefined, {maxLength})
const path = text(undefined, {minLength: 1, maxLength: 4096})
const paths = (maxItems: number, description?: string) => list(path, description, {maxItems})
const prompt = text(undefined, {minLength: 1, maxLength: 262_144})

interface ChatMessage {
  prompt?: string
  message?: string
  context_files?: string[]
  open_files?: string[]
  active_file?: string
  active_line?: number
  selected_text?: string
  diagnostics?: (string | object)[]
  session_id?: string
  thread_id?: string
  journey_id?: string
  cognitive_profile?: string
  json_mode?: boolean
  trace_id?: string
  correlation_id?: string
  attachment_manifest?: unknown
  temperature?: number
  top_p?: number
  use_tools?: boolean
}

const turn = object({role: text(), content: text()}, {required: ['role', 'content'], open: true})

const useTools = flag('Let the model call tools of the workspace.')
const toolsUsed = list(object({name: text(), ok: flag()}, {required: ['name', 'ok']}))

/** Members that every call accepts. */
const commonMembers = ['trace_id', 'correlation_id']

const invalid = (operation: string, violation: string) =>
  new SvcError('params_invalid', {operation, violations: [violation]})

/** @throws params_invalid if the prompt is missing or blank, or if `prompt` and `message` differ */
function promptOf({prompt, message}: ChatMessage): string {
  if (prompt !== undefined && message !== undefined && prompt !== message)
    throw invalid('chat_message', '/message differs from /prompt')
  const words = prompt ?? message
  if (words === undefined) throw invalid('chat_message', "the document must have required property 'prompt'")
  return notBlank('chat_message', prompt === undefined ? '/message' : '/prompt', words)
}

/** @throws params_invalid if a text is blank */
function notBlank(operation: string, place: string, words: string): string {
  if (words.trim() === '') throw invalid(operation, `${place} must not be blank`)
  return words
}

/** Maximum length of members of any type, in characters of JSON. */
const maxLengths = {diagnostic: 16_384, attachments: 65_536}

/** Limits the size of members of any type, which the schema cannot. @throws params_invalid */
function limitSizes({diagnostics = [], attachment_manifest: attachments}: ChatMessage): void {
  const limit = (place: string, value: unknown, max: number) => {
    if ((JSON.stringify(value) ?? '').length > max)
      throw invalid('chat_message', `${place} must NOT have more than ${max} characters as JSON`)
  }
  for (const [i, each] of diagnostics.entries()) limit(`/diagnostics/${i}`, each, maxLengths.diagnostic)
  limit('/attachment_manifest', attachments, maxLengths.attachments)
}

interface GenerateCode {
  prompt: string
  validate?: boolean
  max_retries?: number
  session_id?: string
  journey_id?: string
  trace_id?: string
  correlation_id?: string
  output_surface_mode?: SurfaceMode
  output_path?: string
  use_tools?: boolean
}

interface GeneratedCode {
  code: string
  runtime_generation_kpi: RuntimeGenerationKpiV1
  file_outcomes?: FileOutcomesV1
  tools_used?: readonly UsedTool[]
}

/** Chat and code generation. @param table all operations, of which a model may call some */
export const assistantOperations = (table: () => readonly Operation[]): readonly Operation[] => [
  operation<ChatMessage, MessageAnswer & {socrates: ChatSocrates}>({
    name: 'chat_message',
    title: 'Send a chat message',
    summary: 'Send a message to the model in a stored conversation.',
    effect: 'write',
    idempotent: false,
    openWorld: true,
    input: object(
      {
        prompt,
        message: {...prompt, description: 'Alias of prompt.'},
        context_files: paths(32, 'Workspace files to include in the prompt.'),
        open_files: paths(256),
        active_file: path,
        active_line: integer(undefined, {minimum: 1}),
        selected_text: text(undefined, {maxLength: 1_048_576}),
        diagnostics: list({type: ['string', 'object']}, undefined, {maxItems: 256}),
        session_id: id(2048),
        thread_id: id(2048),
        journey_id: id(2048),
        cognitive_profile: oneOf(['fast', 'reasoning', 'creative']),
        json_mode: flag('Answer with JSON.'),
        trace_id: id(256),
        correlation_id: id(256),
        attachment_manifest: {description: 'Stored but not interpreted.'},
        temperature: number(undefined, {minimum: 0, maximum: 2}),
        top_p: number(undefined, {minimum: 0, maximum: 1}),
        use_tools: useTools,
      },
      {open: true},
    ),
    output: object(
      {
        message: turn,
        history: list(turn),
        model_used: text(),
        tokens: integer(),
        session_id: text(),
        journey: object({}, {open: true}),
        socrates,
        tools_used: toolsUsed,
      },
      {required: ['message', 'model_used', 'session_id', 'journey']},
    ),
    bindings: {
      rpc: {method: 'ai.chat.message'},
      tool: {
        name: 'svc_chat_message',
        tier: 'core',
        lane: 'ai',
        // `message` is an alias of `prompt`; `attachment_manifest` has no effect.
        unlisted: [...commonMembers, 'message', 'attachment_manifest', 'temperature', 'top_p'],
      },
    },
    async run(input, context) {
      const {modules, orchestrator, surface, signal, report} = context
      const message = promptOf(input)
      limitSizes(input)
      const {journey_id = null, session_id = null, thread_id = null, trace_id = null, correlation_id = null} = input
      const journey = modules.journeys.journeyEnvelope(
        {
          journey_id,
          session_id,
          thread_id,
          trace_id,
          correlation_id,
          cognitive_profile: input.cognitive_profile ?? null,
        },
        {repositoryId: orchestrator.repositoryId, surface},
      )
      const {sendMessage} = await import('../../assistant/index.js')
      let pieces = 0
      const answer = await sendMessage(
        await openAssistantFor(context),
        {
          prompt: message,
          contextFiles: input.context_files,
          openFiles: input.open_files,
          activeFile: input.active_file,
          activeLine: input.active_line,
          selectedText: input.selected_text,
          diagnostics: input.diagnostics,
          jsonMode: input.json_mode,
          temperature: input.temperature,
          topP: input.top_p,
          attachmentManifest: input.attachment_manifest,
        },
        journey,
        {
          signal,
          onDelta: (piece) => report({done: ++pieces, message: piece}),
          tools: input.use_tools === true ? assistantTools(table(), context) : undefined,
        },
      )
      modules.sessions.recordExchange(modules.sessions.sessionsOf(orchestrator), session_id ?? undefined, {
        question: message,
        answer: answer.message.content,
        outputTokens: answer.tokens ?? 0,
      })
      const isInline = input.active_file !== undefined || input.selected_text !== undefined
      return {...answer, socrates: chatSocratesOf(context, {sessionId: answer.session_id, message, isInline})}
    },
  }),
  operation<
    {session_id?: string; trace_id?: string; limit?: number},
    {session_id: string; history: Omit<Turn, 'journey'>[]}
  >({
    name: 'chat_history',
    title: 'Show a conversation',
    summary: 'Show the latest turns of a conversation, oldest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      session_id: id(2048),
      trace_id: text('Only turns of this trace.', {maxLength: 256}),
      limit: integer('Maximum number of turns.', {minimum: 1, maximum: 100, default: 100}),
    }),
    output: object({session_id: text(), history: list(turn)}, {required: ['session_id', 'history']}),
    bindings: {
      rpc: {method: 'ai.chat.history'},
      tool: {name: 'svc_chat_history', tier: 'dev', lane: 'ai'},
    },
    async run({session_id: named = '', trace_id: traceId, limit}, {orchestrator}) {
      const {readTurns} = await import('../../assistant/index.js')
      const session = named.trim() || 'default'
      const turns = readTurns(orchestrator, session, {limit, traceId})
      return {session_id: session, history: turns.map(({journey: _, ...rest}) => rest)}
    },
  }),
  operation<GenerateCode, GeneratedCode>({
    name: 'generate_code',
    title: 'Generate code',
    summary: 'Generate a program of the data language with a model, and validate it.',
    effect: 'write',
    idempotent: false,
    openWorld: true,
    input: object(
      {
        prompt,
        validate: flag('Validate and repair the program; default: true.'),
        max_retries: integer(undefined, {minimum: 0, maximum: 5, default: 2}),
        session_id: id(2048),
        journey_id: id(2048),
        trace_id: id(256),
        correlation_id: id(256),
        output_surface_mode: oneOf(['raw_code_only', 'fenced_transport']),
        output_path: text('Workspace file to write or replace.', {
          minLength: 1,
          maxLength: 4096,
        }),
        use_tools: useTools,
      },
      {required: ['prompt']},
    ),
    output: object(
      {
        code: text(),
        runtime_generation_kpi: object({}, {open: true}),
        file_outcomes: object({}, {open: true}),
        tools_used: toolsUsed,
      },
      {required: ['code', 'runtime_generation_kpi']},
    ),
    bindings: {
      rpc: {method: 'ai.generate_code'},
      tool: {
        name: 'svc_generate_code',
        tier: 'core',
        lane: 'ai',
        task: 'background',
        unlisted: commonMembers,
        output: text(),
        present: ({code, ...meta}) => toolAnswer(code, meta),
      },
    },
    async run(input, context) {
      const {modules, orchestrator, surface, signal, report} = context
      const prompt = notBlank('generate_code', '/prompt', input.prompt)
      const {journey_id = null, session_id: sessionId = '', trace_id = null, correlation_id = null} = input
      const {generateCode, traceOf} = await import('../../assistant/index.js')
      const envelope = modules.journeys.journeyEnvelope(
        {journey_id, session_id: sessionId, trace_id, correlation_id},
        {repositoryId: orchestrator.repositoryId, surface},
      )
      const outcome = await generateCode(
        await openAssistantFor(context),
        {
          prompt,
          validate: input.validate,
          maxRetries: input.max_retries,
          surfaceMode: input.output_surface_mode,
          outputPath: input.output_path,
          journeyId: envelope.journey_id,
          sessionId: sessionId.trim() || undefined,
          traceId: traceOf(envelope),
          // No command calls this operation.
          surface: surface === 'mcp' ? 'mcp' : 'daemon',
        },
        {
          signal,
          onAttempt: (attempt, max) =>
            report({done: attempt - 1, total: max, message: `attempt ${attempt} of at most ${max}`}),
          tools: input.use_tools === true ? assistantTools(table(), context) : undefined,
        },
      )
      const {kpi: runtime_generation_kpi} = outcome
      if (outcome.ok) {
        const {code, fileOutcomes: file_outcomes, used: tools_used} = outcome
        return {
          code,
          runtime_generation_kpi,
          ...(file_outcomes === undefined ? {} : {file_outcomes}),
          ...(input.use_tools === true ? {tools_used} : {}),
        }
      }
      const {error, findings: diagnostics_snapshot, repair} = outcome
      throw new DetailedError(error, {diagnostics_snapshot, repair, runtime_generation_kpi})
    },
  }),
]
