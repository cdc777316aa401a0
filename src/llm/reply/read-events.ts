import type {GenerateEvent} from '../request.js'
import type {ReplyLayout} from './layout.js'
import {ReplyParser} from './parser.js'

/** The events of a reply up to its summary. With a layout, its text is divided into thinking, text and calls. */
export async function* readEvents(
  events: AsyncIterable<GenerateEvent>,
  layout: ReplyLayout | undefined,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const parser = layout && new ReplyParser(layout)
  for await (const event of events) {
    yield* parser === undefined ? [event] : parser.push(event)
    if (event.type === 'done') return
  }
}
