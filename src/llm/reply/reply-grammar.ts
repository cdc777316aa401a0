import {SvcError} from '../../errors/index.js'
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
import type {ToolGrammars} from './tool-grammars.js'

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

export interface ReplyGrammar {
  grammar: Grammar
  /** Arguments of each tool that are written as plain text. */
  texts: Readonly<Record<string, readonly string[]>>
}

/**
 * The grammar of a reply: what the model thinks, then a text or a value of the format, or calls. In text, a call may follow.
 * @param known where grammars of tools are kept
 * @throws what `formatGrammar` throws, with the field of the tool or of the format
 */
export function* replyGrammar(parts: ReplyParts, known: ToolGrammars): Steps<ReplyGrammar> {
  const {thinking, isThinking} = parts
  const texts: Record<string, readonly string[]> = {}
  const rules = new Map<string, Expression>()
  const add = ({expression, rules: own}: GrammarPart): Expression => {
    for (const [name, rule] of own) rules.set(name, rule)
    return expression
  }
  const body = yield* bodyOf(parts, {add, texts, known})
  rules.set('body', body)
  const rule: Expression = {kind: 'rule', name: 'body'}
  rules.set('reply', thinking === undefined ? rule : withThinking(thinking, isThinking, rule))
  return {grammar: {start: 'reply', rules}, texts}
}

function withThinking({open, close}: ThinkingTags, isThinking: boolean, body: Expression): Expression {
  const thought = sequence(textBefore(close, [open]), lineBreaks, body)
  return isThinking ? thought : either(body, sequence(lineBreaks, tag(open), thought))
}

interface Building {
  /** Adds the rules of a part. */
  add(part: GrammarPart): Expression
  texts: Record<string, readonly string[]>
  known: ToolGrammars
}

function* bodyOf({content, tags, format, calls}: ReplyParts, building: Building): Steps<Expression> {
  const {add} = building
  const value = format === undefined ? undefined : add(part(yield* formatGrammar(format), 'format'))
  if (calls === undefined) return sequence(tag(content), value ?? freeText(tags))
  const {format: form, use} = calls
  const called = yield* callsOf(form, use, building)
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
function* callsOf(
  format: CallFormat,
  {tools, choice, parallel}: ToolUse,
  {add, texts, known}: Building,
): Steps<Expression> {
  const {prefix, nameEnd, suffix, between, close} = format
  const options: Expression[] = []
  const callable = tools.filter(({name}) => typeof choice === 'string' || name === choice.name)
  for (const tool of callable) {
    try {
      const {texts: plain, ...grammar} = yield* known.of(format, tool)
      if (plain !== undefined) texts[tool.name] = plain
      options.push(sequence(tag(tool.name + nameEnd), add(grammar), tag(suffix)))
    } catch (error) {
      if (tool.field === undefined || !(error instanceof SvcError)) throw error
      const {code, params, stack} = error.toRecord()
      throw SvcError.fromRecord({code, params: {...params, field: tool.field}, stack})
    }
  }
  const one = add({expression: {kind: 'rule', name: 'call'}, rules: new Map([['call', either(...options)]])})
  if (!parallel || between === undefined) return sequence(one, tag(close))
  return sequence(one, repeat(sequence(tag(between + prefix), one)), tag(close))
}
