import type {GenerateEvent, GenerateSummary, TokenLogprob} from '../request.js'
import {type ArgumentTexts, type CallFormat, markedFormat} from './call-format.js'
import {callFormat} from './call-formats.js'
import {Input, overlap, type Reader} from './input.js'
import {marked, type ReplyLayout} from './layout.js'

type TextEvent = Extract<GenerateEvent, {type: 'text'}>

/** A new id of a call. Templates of Mistral require nine characters. */
function newCallId(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
  const letter = () => letters[Math.floor(Math.random() * letters.length)]
  return `call_${letter()}${letter()}${letter()}${letter()}`
}

/** A lone surrogate, which stands for a special token. */
const mark = /[\ud800-\udfff]/gu

/** Divides the text of a reply into what the model thinks, text, and calls. */
export class ReplyParser {
  readonly #input = new Input()
  readonly #reader: Reader
  /** Parts of the text that has arrived: where they end, their number of tokens, and log-probabilities that are still to emit. */
  #arrived: {end: number; tokens: number; logprobs: readonly TokenLogprob[] | undefined}[] = []
  #end = 0
  #tokens = 0
  #emitted: GenerateEvent[] = []
  #calls = 0
  #reasoningTokens = 0
  #isThinking: boolean
  readonly #texts: ArgumentTexts
  readonly #newId: () => string

  constructor(layout: ReplyLayout, texts: ArgumentTexts = {}, newId = newCallId) {
    this.#texts = texts
    this.#newId = newId
    this.#isThinking = layout.isThinking
    this.#reader = this.#read(layout)
    this.#reader.next()
  }

  /** What an event of the engine becomes. */
  push(event: GenerateEvent): GenerateEvent[] {
    if (event.type === 'text') this.#append(event)
    else if (event.type === 'done') this.#input.hasEnded = true
    else this.#emitted.push(event)
    this.#reader.next()
    const events = this.#emitted
    this.#emitted = []
    return event.type === 'done' ? [...events, this.#summary(event)] : events
  }

  #append({text, tokens, logprobs}: TextEvent): void {
    this.#input.append(text)
    this.#end += text.length
    this.#tokens = tokens
    this.#arrived.push({end: this.#end, tokens, logprobs})
  }

  #summary(summary: GenerateSummary & {type: 'done'}): GenerateEvent {
    const isCall = this.#calls > 0 && summary.finishReason === 'stop'
    const reasoningTokens = this.#isThinking ? summary.completionTokens : this.#reasoningTokens
    return {...summary, ...(isCall ? {finishReason: 'tool_calls' as const} : {}), reasoningTokens}
  }

  *#read({specials, thinking, isThinking, content, calls}: ReplyLayout): Reader {
    const withMarks = (tag: string) => marked(tag, specials)
    const tags = thinking && {open: withMarks(thinking.open), close: withMarks(thinking.close)}
    const format = calls === undefined ? undefined : markedFormat(callFormat(calls), withMarks)
    if (tags !== undefined) {
      const opens = isThinking || (yield* this.#opens(tags.open))
      if (opens) yield* this.#thinking(tags.close)
    }
    const isCall = format?.isFirst === true && (yield* this.#input.startsWith(format.trigger))
    if (format !== undefined && isCall) return yield* this.#callsOf(format)
    yield* this.#input.skip(withMarks(content))
    const called = yield* this.#content(format)
    if (called && format !== undefined) yield* this.#callsOf(format)
  }

  /** Whether the reply begins with a tag, perhaps after white space. */
  *#opens(tag: string): Reader<boolean> {
    for (;;) {
      const {rest, hasEnded} = this.#input
      const space = rest.length - rest.trimStart().length
      if (space < rest.length || hasEnded) {
        const found = rest.slice(space)
        if (found.startsWith(tag)) {
          this.#input.take(space + tag.length)
          return true
        }
        if (hasEnded || !tag.startsWith(found)) return false
      }
      yield
    }
  }

  /** Emits what is thought, without the white space around it. */
  *#thinking(close: string): Reader {
    this.#isThinking = true
    yield* this.#skipSpace()
    const ended = yield* this.#release(close, true, (text) => this.#emitted.push({type: 'thinking', text}))
    if (!ended) return
    this.#input.take(close.length)
    this.#isThinking = false
    this.#reasoningTokens = this.#arrived.find(({end}) => end >= this.#input.offset)?.tokens ?? 0
    yield* this.#skipSpace()
  }

  *#skipSpace(): Reader {
    for (;;) {
      const {rest, hasEnded} = this.#input
      const space = rest.length - rest.trimStart().length
      this.#input.take(space)
      if (space < rest.length || hasEnded) return
      yield
    }
  }

  /** Emits text up to a call. @returns whether a call follows */
  *#content(format: CallFormat | undefined): Reader<boolean> {
    const trigger = format === undefined || format.isFirst === true ? undefined : format.trigger
    return yield* this.#release(trigger, trigger !== undefined, (text) => this.#emitContent(text))
  }

  /**
   * Emits text as it arrives, up to a tag.
   * @param trims whether white space before the tag is dropped
   * @returns whether the tag follows
   */
  *#release(tag: string | undefined, trims: boolean, emit: (text: string) => void): Reader<boolean> {
    for (;;) {
      const {rest, hasEnded} = this.#input
      const at = tag === undefined ? -1 : rest.indexOf(tag)
      const whole = at === -1 ? rest.length - (tag === undefined || hasEnded ? 0 : overlap(rest, tag)) : at
      const ends = at !== -1 || hasEnded
      const kept = trims && (at !== -1 || !hasEnded) ? rest.slice(0, whole).trimEnd().length : whole
      if (kept > 0) emit(this.#input.take(kept))
      if (at !== -1) this.#input.take(whole - kept)
      if (ends) return at !== -1
      yield
    }
  }

  #emitContent(text: string): void {
    const to = this.#input.offset
    const from = to - text.length
    const due = this.#arrived.filter(({end}) => from < end && end <= to)
    const hasLogprobs = this.#arrived.some(({logprobs}) => logprobs !== undefined)
    const logprobs = due.flatMap((each) => each.logprobs ?? [])
    this.#arrived = this.#arrived.filter(({end}) => end > to)
    const visible = text.replace(mark, '')
    if (visible === '' && logprobs.length === 0) return
    this.#emitted.push({type: 'text', text: visible, tokens: this.#tokens, ...(hasLogprobs ? {logprobs} : {})})
  }

  *#callsOf(format: CallFormat): Reader {
    const {open, prefix, nameEnd, suffix, between, notation} = format
    const input = this.#input
    yield* input.skip(open)
    for (;;) {
      if (!(yield* input.skip(prefix))) return
      const name = yield* nameEnd === '' ? input.upTo(notation.begin ?? '') : input.until(nameEnd)
      if (name === undefined) return
      const index = this.#calls++
      this.#emitted.push({type: 'call', index, id: this.#newId(), name})
      const emit = (text: string) => this.#emitted.push({type: 'arguments', index, text, isLast: false})
      const isComplete = yield* notation.read(input, new Set(this.#texts[name] ?? []), emit)
      if (!isComplete) return
      this.#emitted.push({type: 'arguments', index, text: '', isLast: true})
      yield* input.skip(suffix)
      if (between === undefined || !(yield* input.skip(between))) return
    }
  }
}
