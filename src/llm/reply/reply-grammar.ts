import {
  type Expression,
  formatGrammar,
  type Grammar,
  type GrammarPart,
  type ReplyFormat,
  type Steps,
  structure,
} from '../../grammar/index.js'
import type {ToolUse} from '../tools.js'
import type {CallFormat} from './call-format.js'
import type {ThinkingTags} from './layout.js'
import {callableTools} from './tool-grammars.js'

/** What a reply may consist of. Tags have marks in place of special tokens. */
export interface ReplyParts {
  /** Undefined if the reply has none. */
  thinking?: ThinkingTags
  /** Whether the prompt ends within the thinking. */
  isThinking: boolean
  /** What precedes text. */
  content: string
  /** Tags that text does not contain. */
  tags: readonly string[]
  format?: ReplyFormat
  calls?: {format: CallFormat; use: ToolUse}
}

const {tag, freeText, textBefore, part, sequence, either, repeat, lexeme} = structure

const lineBreaks = lexeme({kind: 'repeat', part: {kind: 'text', text: '\n'}, min: 0, max: 2})

/**
 * The grammar of a reply: what the model thinks, then a text or a value of the format, or calls. In text, a call may follow. The
 * arguments of each tool are a nested grammar with its name.
 * @throws what `formatGrammar` throws, with the field of the format
 */
export function* replyGrammar(parts: ReplyParts): Steps<Grammar> {
  const {thinking, isThinking} = parts
  const rules = new Map<string, Expression>()
  const add = ({expression, rules: own}: GrammarPart): Expression => {
    for (const [name, rule] of own) rules.set(name, rule)
    return expression
  }
  const body = yield* bodyOf(parts, add)
  rules.set('body', body)
  const rule: Expression = {kind: 'rule', name: 'body'}
  rules.set('reply', thinking === undefined ? rule : withThinking(thinking, isThinking, rule))
  return {start: 'reply', rules}
}

function withThinking({open, close}: ThinkingTags, isThinking: boolean, body: Expression): Expression {
  const thought = sequence(textBefore(close, [open]), lineBreaks, body)
  return isThinking ? thought : either(body, sequence(lineBreaks, tag(open), thought))
}

/** Adds the rules of a part. */
type Add = (part: GrammarPart) => Expression

function* bodyOf({content, tags, format, calls}: ReplyParts, add: Add): Steps<Expression> {
  const value = format === undefined ? undefined : add(part(yield* formatGrammar(format), 'format'))
  if (calls === undefined) return sequence(tag(content), value ?? freeText(tags))
  const {format: form, use} = calls
  const called = callsOf(form, use, add)
  const call = sequence(tag(form.open + form.prefix), called)
  if (use.choice !== 'auto') return call
  if (value !== undefined) return either(sequence(tag(content), value), call)
  if (content !== '') return either(sequence(tag(content), freeText(tags)), call)
  if (form.isFirst === true) return either(freeText(tags, form.trigger), call)
  const rest = tag((form.open + form.prefix).slice(form.trigger.length))
  const others = tags.filter((each) => each !== form.trigger)
  return either(freeText(tags), sequence(textBefore(form.trigger, others), rest, called))
}

/** Calls, from the name of the first on. */
function callsOf({prefix, nameEnd, suffix, between, close}: CallFormat, use: ToolUse, add: Add): Expression {
  const options = callableTools(use).map(({name}) => sequence(tag(name + nameEnd), {kind: 'nested', name}, tag(suffix)))
  const one = add({expression: {kind: 'rule', name: 'call'}, rules: new Map([['call', either(...options)]])})
  if (!use.parallel || between === undefined) return sequence(one, tag(close))
  return sequence(one, repeat(sequence(tag(between + prefix), one)), tag(close))
}
