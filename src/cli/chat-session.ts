import type {ChatModel, Conversation} from '../chat/index.js'
import {asText, SvcError} from '../errors/index.js'
import type {LineReader} from './line-reader.js'

export interface ChatSession {
  model: ChatModel
  conversation: Conversation
  reader: LineReader
  /**
   * Generates and prints the reply to a question; what there is of it after the second signal has aborted.
   * @throws the reason of the first signal; what `ChatModel.reply` throws
   */
  reply(
    conversation: Conversation,
    question: string,
    stop: AbortSignal,
  ): Promise<Omit<Conversation['messages'][number], 'role'>>
  signal: AbortSignal
}

/**
 * Answers messages and runs commands, until the user leaves. An error is printed, and the conversation continues without what
 * caused it.
 * @throws the reason of the signal
 */
export async function holdChat({reader, model, signal, ...session}: ChatSession): Promise<void> {
  const {isSlashCommand, runSlashCommand, withTurn} = await import('../chat/index.js')
  let {conversation} = session
  for (let text = await readMessage(reader); text !== undefined; text = await readMessage(reader)) {
    const question = text
    if (question.trim() === '') continue
    try {
      if (isSlashCommand(question)) {
        const outcome = await runSlashCommand(question, conversation, model)
        if (outcome.text !== '') process.stderr.write(`${outcome.text}\n`)
        if (outcome.isEnd) break
        conversation = outcome.conversation
      } else {
        const reply = await reader.during((stop) => session.reply(conversation, question, stop))
        // A question without a reply would be followed by another one, which some chat templates refuse.
        if (reply.content !== '') conversation = withTurn(conversation, question, reply)
      }
    } catch (error) {
      signal.throwIfAborted()
      process.stderr.write(asText(SvcError.from(error)))
    }
  }
  signal.throwIfAborted()
}

/** Begins and ends a message of several lines. */
const quotes = '"""'

/** The next message of the user; undefined at the end of the input. */
async function readMessage(reader: LineReader): Promise<string | undefined> {
  const first = await reader.next()
  if (first === undefined || !first.startsWith(quotes)) return first
  let text = first.slice(quotes.length)
  while (!text.trimEnd().endsWith(quotes)) {
    const line = await reader.next('... ')
    if (line === undefined) return undefined
    text += `\n${line}`
  }
  return text.trimEnd().slice(0, -quotes.length).trim()
}
