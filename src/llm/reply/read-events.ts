import type {GenerateEvent} from '../request.js'
import type {ArgumentTexts} from './call-format.js'
import type {ReplyLayout} from './layout.js'
import {ReplyParser} from './parser.js'

/**
 * The events of a reply up to its summary. With a layout, its text is divided into thinking, text and calls.
 * @param checked when the tools have been checked: what is known about their arguments
 * @throws the reason of `checked`, before the first event
 */
export async function* readEvents(
  events: AsyncIterable<GenerateEvent>,
  layout: ReplyLayout | undefined,
  checked: Promise<ArgumentTexts> | undefined,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const texts = await checked
  const parser = layout && new ReplyParser(layout, texts)
  for await (const event of events) {
    yield* parser === undefined ? [event] : parser.push(event)
    if (event.type === 'done') return
  }
}
