import {asOpenAiError, type SvcError} from '../../errors/index.js'
import type {GenerateEvent, GenerateSummary} from '../../llm/index.js'
import type {StreamWriter} from '../dialect.js'
import type {StreamHead} from './reply.js'

type EventOf<Type extends GenerateEvent['type']> = Extract<GenerateEvent, {type: Type}>

/** The chunks of one of the two routes. */
export interface Chunks {
  /** The first chunk of a choice, if there is one. */
  opening?(index: number): object
  prompt?(index: number, event: EventOf<'prompt'>): object
  thinking?(index: number, event: EventOf<'thinking'>): object
  text(index: number, event: EventOf<'text'>): object
  call?(index: number, event: EventOf<'call' | 'arguments'>): object | undefined
  end(index: number, summary: GenerateSummary): object
  /** The last chunk of a stream with `include_usage`. */
  usage(summaries: readonly GenerateSummary[]): object
}

/** Writes the chunks of several choices. */
export class ChoiceStream implements StreamWriter {
  readonly #chunks: Chunks
  readonly #head: StreamHead
  /** Number of choices. */
  readonly #count: number
  readonly #opened = new Set<number>()
  readonly #summaries: GenerateSummary[] = []
  #ended = 0

  constructor(chunks: Chunks, head: StreamHead, count: number) {
    this.#chunks = chunks
    this.#head = head
    this.#count = count
  }

  *write(event: GenerateEvent, index: number): Iterable<unknown> {
    if (!this.#opened.has(index) && this.#chunks.opening !== undefined) yield this.#chunks.opening(index)
    this.#opened.add(index)
    const chunk = this.#chunkOf(event, index)
    if (chunk !== undefined) yield chunk
    if (event.type !== 'done') return
    this.#summaries[index] = event
    if (++this.#ended < this.#count) return
    if (this.#head.includeUsage) yield this.#chunks.usage(this.#summaries)
    yield '[DONE]'
  }

  failed(error: SvcError): Iterable<unknown> {
    return [asOpenAiError(error)]
  }

  #chunkOf(event: GenerateEvent, index: number): object | undefined {
    switch (event.type) {
      case 'prompt':
        return this.#chunks.prompt?.(index, event)
      case 'thinking':
        return this.#chunks.thinking?.(index, event)
      case 'text':
        return this.#chunks.text(index, event)
      case 'done':
        return this.#chunks.end(index, event)
      default:
        return this.#chunks.call?.(index, event)
    }
  }
}
