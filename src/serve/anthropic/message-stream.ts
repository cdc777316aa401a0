import {asAnthropicError, type SvcError} from '../../errors/index.js'
import type {GenerateEvent} from '../../llm/index.js'
import type {StreamWriter} from '../dialect.js'
import type {MessagesRequest} from './request.js'
import {
  endUsage,
  type MessageHead,
  openMessage,
  signature,
  stopOf,
  textBlock,
  thinkingBlock,
  toolBlock,
} from './response.js'

/** Writes the events of a message. Each block is opened by its first part, and closed by the next block or the end. */
export class MessageStream implements StreamWriter {
  readonly #head: MessageHead
  readonly #request: MessagesRequest
  /** Type of the open block. */
  #open: 'text' | 'thinking' | 'tool_use' | undefined
  /** Index of the open block, or the last one. */
  #index = -1

  constructor(head: MessageHead, request: MessagesRequest) {
    this.#head = head
    this.#request = request
  }

  *write(event: GenerateEvent): Iterable<unknown> {
    switch (event.type) {
      case 'prompt':
        yield {type: 'message_start', message: openMessage(this.#head, event)}
        return
      case 'thinking':
        if (this.#open !== 'thinking') yield* this.#start('thinking', thinkingBlock('', ''))
        if (!this.#request.omitsThinking) yield this.#delta({type: 'thinking_delta', thinking: event.text})
        return
      case 'text':
        if (this.#open !== 'text') yield* this.#start('text', textBlock(''))
        yield this.#delta({type: 'text_delta', text: event.text})
        return
      case 'call':
        yield* this.#start('tool_use', toolBlock(event))
        return
      case 'arguments':
        if (event.text !== '') yield this.#delta({type: 'input_json_delta', partial_json: event.text})
        return
      case 'done':
        yield* this.#close()
        yield {type: 'message_delta', delta: {...stopOf(this.#request, event), ...noDetails}, usage: endUsage(event)}
        yield {type: 'message_stop'}
    }
  }

  failed(error: SvcError): Iterable<unknown> {
    return [asAnthropicError(error)]
  }

  *#start(type: 'text' | 'thinking' | 'tool_use', block: object): Iterable<object> {
    yield* this.#close()
    this.#open = type
    yield {type: 'content_block_start', index: ++this.#index, content_block: block}
  }

  *#close(): Iterable<object> {
    if (this.#open === undefined) return
    if (this.#open === 'thinking') yield this.#delta({type: 'signature_delta', signature})
    this.#open = undefined
    yield {type: 'content_block_stop', index: this.#index}
  }

  #delta(delta: object): object {
    return {type: 'content_block_delta', index: this.#index, delta}
  }
}

const noDetails = {container: null, stop_details: null}
