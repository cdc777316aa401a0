import type {Ask} from '../inference-client/index.js'
import type {FoundPassage} from './passages.js'

const instructions = `You answer questions about the command-line program svc. Use only the passages below, which are from its
documentation. Answer in at most five sentences, with the exact commands of the passages between backticks. Name the passage
of each statement by its number, such as [1]. If the passages do not answer the question, reply only: I do not know.`

/** A model that does not answer from the passages says this. */
const unknown = /^\W*i do(?: not|n't) know\b/i

const maxTokens = 400

/** What a model answers to a question from passages; undefined if it says that they do not answer it. @throws what `ask` throws */
export async function writtenBy(
  ask: Ask,
  question: string,
  passages: readonly FoundPassage[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const numbered = passages.map(({headings, text}, i) => `[${i + 1}] ${headings.join(' > ')}\n${text}`)
  const messages = [
    {role: 'system' as const, content: `${instructions}\n\n${numbered.join('\n\n')}`},
    {role: 'user' as const, content: question},
  ]
  const reply = (await ask(messages, {maxTokens, temperature: 0, signal})).trim()
  return reply === '' || unknown.test(reply) ? undefined : reply
}
