import {bytesOfMarked, characterOfMark, stepsInTurns} from '../grammar/index.js'
import type {Tokenizer} from '../text/index.js'
import type {GrammarReader} from './grammar-reader.js'
import {stopsOf} from './insertion.js'
import type {ModelText} from './model-text.js'
import type {PreparedFormat, StoredTools} from './prepared-format.js'
import {encodePrompt} from './prompt.js'
import {type ArgumentTexts, type CallFormat, markedFormat} from './reply/call-format.js'
import {marked, type ReplyLayout, type ThinkingTags} from './reply/layout.js'
import {type ReplyParts, replyGrammar} from './reply/reply-grammar.js'
import type {ReplyStyle} from './reply/style.js'
import {callableTools, storeTools, ToolChecks} from './reply/tool-grammars.js'
import type {GenerateRequest} from './request.js'
import {marksOf} from './special-marks.js'
import type {ThinkingLimit} from './thinking-budget.js'
import type {ToolUse} from './tools.js'

/** The parts of a request that determine the prompt and the form of the reply. */
export type PlannedRequest = Pick<GenerateRequest, 'prompt' | 'stop' | 'format' | 'tools' | 'thinking'>

/** A prompt as tokens, and the form of its reply. */
export interface ReplyPlan {
  tokens: number[]
  prepared?: PreparedFormat
  /** Stop strings, with those that end an insertion. */
  stop: readonly string[]
  limit?: ThinkingLimit
  /** Special tokens that are part of the text of the reply. */
  marks?: readonly (readonly [token: number, character: string])[]
  /** How the text is to be read; undefined if it is only text. */
  layout?: ReplyLayout
}

/** Plans replies: encodes the prompt, and prepares the grammar of what may follow. */
export class ReplyPlanner {
  readonly #model: ModelText
  readonly #grammars: GrammarReader
  readonly #checks = new ToolChecks()

  constructor(model: ModelText, grammars: GrammarReader) {
    this.#model = model
    this.#grammars = grammars
  }

  /** Number of tokens of a prompt. @throws what `encodePrompt` throws */
  count(request: PlannedRequest, contextLength: number, check?: () => void): number {
    return encodePrompt({...this.#model, contextLength}, request.prompt, check, request).length
  }

  /**
   * Checks the tools of a conversation. This takes longer than `plan`, which does not need it.
   * @param check called regularly; its exception aborts the check
   * @returns the arguments of each tool that are written as plain text
   * @throws what `ToolChecks.of` throws
   */
  async check(tools: ToolUse, check?: () => void): Promise<ArgumentTexts> {
    const {style} = this.#model
    return style === undefined ? {} : stepsInTurns(this.#checks.of(style.calls, callableTools(tools), check))
  }

  /**
   * Tools are not checked.
   * @param check called regularly; its exception aborts the encoding
   * @throws what `encodePrompt` and `replyGrammar` throw
   */
  async plan(request: PlannedRequest, contextLength: number, check?: () => void): Promise<ReplyPlan> {
    const {tokenizer, ends, style, insertion} = this.#model
    const tokens = encodePrompt({...this.#model, contextLength}, request.prompt, check, request)
    const {prompt, format, tools, thinking: wanted} = request
    const isInsertion = prompt.kind === 'insertion' && insertion !== undefined
    const stop = isInsertion ? [...request.stop, ...stopsOf(tokenizer, insertion)] : request.stop
    if (prompt.kind !== 'chat' || style === undefined) {
      if (format === undefined) return {tokens, stop}
      const parts: ReplyParts = {isThinking: false, content: '', tags: [], format}
      return {tokens, stop, prepared: await this.#prepare(parts)}
    }
    const isContinued = prompt.messages.at(-1)?.role === 'assistant'
    const end = endOf(tokenizer, tokens)
    const isThinking = style.thinking !== undefined && end.endsWith(style.thinking.open)
    const canThink = !isContinued && (isThinking || (wanted?.enabled !== false && !endsWithTag(end, style.thinking)))
    const specials = specialsIn(style, tokenizer, marksOf(tokenizer, ends))
    const withMarks = (tag: string) => marked(tag, specials.characters)
    const thinking = style.thinking && {
      open: withMarks(style.thinking.open),
      close: withMarks(style.thinking.close),
      empty: '',
    }
    const calls = tools && {format: markedFormat(style.calls, withMarks), use: tools}
    const parts: ReplyParts = {
      ...(canThink && thinking !== undefined ? {thinking} : {}),
      isThinking,
      content: isContinued ? '' : withMarks(style.content),
      tags: [
        ...(thinking === undefined ? [] : [thinking.open, thinking.close]),
        ...(calls === undefined || calls.format.isFirst === true ? [] : [calls.format.trigger]),
      ],
      ...(format === undefined ? {} : {format}),
      ...(calls === undefined ? {} : {calls}),
    }
    const limit =
      parts.thinking === undefined || style.thinking === undefined || wanted?.budget === undefined
        ? undefined
        : {
            tokens: wanted.budget,
            open: bytesOfMarked(parts.thinking.open),
            close: bytesOfMarked(parts.thinking.close),
            closing: tokenizer.encode(`\n${style.thinking.close}`, {special: false}),
            isThinking,
          }
    const isConstrained = format !== undefined || calls !== undefined || limit !== undefined
    const stored = tools && {
      format: style.calls.name,
      specials: specials.characters,
      tools: storeTools(callableTools(tools)),
    }
    const prepared = isConstrained ? await this.#prepare(parts, stored) : undefined
    const layout: ReplyLayout = {
      specials: specials.characters,
      ...(style.thinking === undefined || isContinued ? {} : {thinking: style.thinking}),
      isThinking,
      content: isContinued ? '' : style.content,
      ...(calls === undefined ? {} : {calls: style.calls.name}),
    }
    return {
      tokens,
      stop,
      ...(prepared === undefined ? {} : {prepared}),
      ...(limit === undefined ? {} : {limit}),
      ...(specials.tokens.length === 0 ? {} : {marks: specials.tokens}),
      ...(layout.thinking === undefined && layout.content === '' && calls === undefined ? {} : {layout}),
    }
  }

  async #prepare(parts: ReplyParts, tools?: StoredTools): Promise<PreparedFormat> {
    const {format, calls, ...others} = parts
    const {field: _, ...content} = format ?? {}
    const recipe = {
      ...others,
      format: content,
      calls: calls && {choice: calls.use.choice, parallel: calls.use.parallel, tools},
    }
    const prepared = await this.#grammars.read(recipe, () => replyGrammar(parts))
    return tools === undefined ? prepared : {...prepared, tools}
  }
}

/** Tokens at the end of a prompt in which a tag of thinking is searched. */
const endTokens = 32

/** The text of the end of a prompt, with the names of special tokens, without white space at its end. */
const endOf = (tokenizer: Tokenizer, tokens: readonly number[]): string =>
  Buffer.concat(tokens.slice(-endTokens).map((token) => tokenizer.bytes(token)))
    .toString()
    .trimEnd()

const endsWithTag = (end: string, tags: ThinkingTags | undefined): boolean =>
  tags !== undefined && end.endsWith(tags.close)

/** The special tokens whose names are in the tags of a style. */
function specialsIn(
  {thinking, content, calls}: ReplyStyle,
  tokenizer: Tokenizer,
  marks: ReadonlyMap<number, number>,
): {characters: Record<string, string>; tokens: [token: number, character: string][]} {
  const texts = [thinking?.open, thinking?.close, content, ...tagsOf(calls)].join('\0')
  const found = [...marks].flatMap(([token, mark]) => {
    const name = tokenizer.bytes(token).toString()
    return texts.includes(name) ? [{name, token, character: characterOfMark(mark)}] : []
  })
  return {
    characters: Object.fromEntries(found.map(({name, character}) => [name, character])),
    tokens: found.map(({token, character}) => [token, character]),
  }
}

const tagsOf = ({
  open,
  prefix,
  nameEnd,
  suffix,
  between,
  close,
  notation,
}: CallFormat): readonly (string | undefined)[] => [
  ...(notation.tags ?? []),
  open,
  prefix,
  nameEnd,
  suffix,
  between,
  close,
]
