import {asOpenAiError, type SvcError} from '../../errors/index.js'
import type {GenerateEvent, TokenLogprob} from '../../llm/index.js'
import type {StreamWriter} from '../dialect.js'
import {
  callItem,
  logprobOf,
  messageItem,
  newId,
  outputText,
  reasoningItem,
  reasoningText,
  type Status,
  summaryText,
} from './items.js'
import type {ResponsesRequest} from './request.js'
import {type ResponseHead, responseOf, statusOf} from './response.js'

/** An item that is being written. */
interface OpenItem {
  kind: 'message' | 'reasoning' | 'call'
  /** The events that end it. @param status of the item */
  end(status: Status): Iterable<object>
}

/** Writes the events of a response. Each item is opened by its first part, and ended by the next item or the end. */
export class ResponseStream implements StreamWriter {
  readonly #head: ResponseHead
  readonly #request: ResponsesRequest
  #sequence = 0
  readonly #output: object[] = []
  #open: OpenItem | undefined
  /** Text of the open item. */
  #text = ''
  #logprobs: TokenLogprob[] = []
  /** Fields that name the open item, or its part, in an event. */
  #item: {item_id: string; output_index: number} = {item_id: '', output_index: 0}

  constructor(head: ResponseHead, request: ResponsesRequest) {
    this.#head = head
    this.#request = request
  }

  *write(event: GenerateEvent): Iterable<unknown> {
    if (this.#sequence === 0) yield* this.#numbered(this.#opening())
    yield* this.#numbered(this.#eventsOf(event))
    if (event.type === 'done') yield '[DONE]'
  }

  *failed(error: SvcError): Iterable<unknown> {
    if (this.#sequence === 0) yield* this.#numbered(this.#opening())
    const {code, message} = asOpenAiError(error).error
    const failure = {code: code ?? 'server_error', message}
    yield* this.#numbered([
      {
        type: 'response.failed',
        response: responseOf(this.#head, this.#request, {status: 'failed', output: this.#output, error: failure}),
      },
    ])
  }

  *#numbered(events: Iterable<object>): Iterable<object> {
    for (const event of events) yield {...event, sequence_number: this.#sequence++}
  }

  *#opening(): Iterable<object> {
    const response = responseOf(this.#head, this.#request, {status: 'in_progress', output: []})
    yield {type: 'response.created', response}
    yield {type: 'response.in_progress', response}
  }

  *#eventsOf(event: GenerateEvent): Iterable<object> {
    switch (event.type) {
      case 'thinking':
        yield* this.#thought(event.text)
        return
      case 'text':
        yield* this.#part(event.text, event.logprobs)
        return
      case 'call':
        yield* this.#end('completed')
        yield* this.#startCall(event)
        return
      case 'arguments':
        yield* this.#argument(event.text)
        if (event.isLast) yield* this.#end('completed')
        return
      case 'done':
        yield* this.#finish(event)
    }
  }

  *#finish(summary: Extract<GenerateEvent, {type: 'done'}>): Iterable<object> {
    const status = statusOf(summary)
    if (this.#open === undefined && this.#output.length === 0) yield* this.#startMessage()
    yield* this.#end(status)
    const response = responseOf(this.#head, this.#request, {status, output: this.#output, summary})
    yield {type: `response.${status}`, response}
  }

  *#thought(text: string): Iterable<object> {
    if (this.#open?.kind !== 'reasoning') {
      yield* this.#end('completed')
      yield* this.#startReasoning()
    }
    this.#text += text
    const {summarizes} = this.#request
    yield summarizes
      ? {type: 'response.reasoning_summary_text.delta', ...this.#item, summary_index: 0, delta: text}
      : {type: 'response.reasoning_text.delta', ...this.#item, content_index: 0, delta: text}
  }

  *#part(text: string, logprobs: readonly TokenLogprob[] = []): Iterable<object> {
    if (this.#open?.kind !== 'message') {
      yield* this.#end('completed')
      yield* this.#startMessage()
    }
    this.#text += text
    this.#logprobs.push(...logprobs)
    yield {
      type: 'response.output_text.delta',
      ...this.#item,
      content_index: 0,
      delta: text,
      logprobs: logprobs.map(logprobOf),
    }
  }

  *#argument(text: string): Iterable<object> {
    if (text === '') return
    this.#text += text
    yield {type: 'response.function_call_arguments.delta', ...this.#item, delta: text}
  }

  #begin(id: string, item: object, open: OpenItem): object {
    this.#open = open
    this.#text = ''
    this.#logprobs = []
    this.#item = {item_id: id, output_index: this.#output.length}
    return {type: 'response.output_item.added', output_index: this.#output.length, item}
  }

  *#end(status: Status): Iterable<object> {
    const open = this.#open
    this.#open = undefined
    if (open !== undefined) yield* open.end(status)
  }

  #done(item: object): object {
    const index = this.#output.push(item) - 1
    return {type: 'response.output_item.done', output_index: index, item}
  }

  *#startMessage(): Iterable<object> {
    const id = newId('msg')
    const end = (status: Status) => this.#endMessage(id, status)
    yield this.#begin(id, messageItem(id, 'in_progress', []), {kind: 'message', end})
    yield {type: 'response.content_part.added', ...this.#item, content_index: 0, part: outputText('')}
  }

  *#endMessage(id: string, status: Status): Iterable<object> {
    const part = outputText(this.#text, this.#logprobs)
    const {text, logprobs} = part
    yield {type: 'response.output_text.done', ...this.#item, content_index: 0, text, logprobs}
    yield {type: 'response.content_part.done', ...this.#item, content_index: 0, part}
    yield this.#done(messageItem(id, status, [part]))
  }

  *#startReasoning(): Iterable<object> {
    const {summarizes} = this.#request
    const id = newId('rs')
    yield this.#begin(id, reasoningItem(id, summarizes, []), {kind: 'reasoning', end: () => this.#endReasoning(id)})
    yield summarizes
      ? {type: 'response.reasoning_summary_part.added', ...this.#item, summary_index: 0, part: summaryText('')}
      : {type: 'response.content_part.added', ...this.#item, content_index: 0, part: reasoningText('')}
  }

  *#endReasoning(id: string): Iterable<object> {
    const {summarizes} = this.#request
    const text = this.#text
    const part = summarizes ? summaryText(text) : reasoningText(text)
    if (summarizes) {
      yield {type: 'response.reasoning_summary_text.done', ...this.#item, summary_index: 0, text}
      yield {type: 'response.reasoning_summary_part.done', ...this.#item, summary_index: 0, part}
    } else {
      yield {type: 'response.reasoning_text.done', ...this.#item, content_index: 0, text}
      yield {type: 'response.content_part.done', ...this.#item, content_index: 0, part}
    }
    yield this.#done(reasoningItem(id, summarizes, [part]))
  }

  *#startCall({id: callId, name}: Extract<GenerateEvent, {type: 'call'}>): Iterable<object> {
    const id = newId('fc')
    const call = {id: callId, name}
    yield this.#begin(id, callItem(id, 'in_progress', {...call, arguments: ''}), {
      kind: 'call',
      end: (status) => this.#endCall(id, status, call),
    })
  }

  *#endCall(id: string, status: Status, call: {id: string; name: string}): Iterable<object> {
    const complete = {...call, arguments: this.#text}
    yield {
      type: 'response.function_call_arguments.done',
      ...this.#item,
      name: call.name,
      arguments: this.#text,
    }
    yield this.#done(callItem(id, status, complete))
  }
}
