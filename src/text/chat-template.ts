import {Template} from '@huggingface/jinja'
import {SvcError} from '../errors/index.js'

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
}

/** A conversation that the template does not want. */
class Refused extends Error {}
/** What templates call to say so, under a name of ours: the library's own cannot be told from its other errors. */
const refusal = 'svc_raise_exception'

/** Stands at the end of a message that is to be continued: a character that no text may hold. */
const endMark = '\uFDD1'

/** Conversations of which any template can write one. */
const trials: readonly (readonly ChatMessage[])[] = [
  [{role: 'user', content: 'x'}],
  [
    {role: 'system', content: 'x'},
    {role: 'user', content: 'x'},
  ],
]

/** Turns a conversation into the text a model was trained on. */
export class ChatTemplate {
  /** Why nothing can be written with it: it is no template, or it uses what is not known here. */
  readonly fault: SvcError | undefined
  readonly #template: Template | undefined

  /** @param file where the source came from, for errors */
  constructor(source: string, file: string) {
    try {
      this.#template = new Template(source.replaceAll(/\braise_exception\b/g, refusal))
      this.#try()
    } catch (error) {
      const {message} = error as Error
      const reason = error instanceof TypeError ? `it uses what is not supported (${message})` : message
      this.fault = new SvcError('chat_template_failed', {file, reason}, {cause: error})
    }
  }

  /**
   * The prompt that asks for the assistant's next turn, or goes on with the one that the conversation ends with. It holds
   * its special tokens as text.
   * @param specials `bos_token` and `eos_token`, as the template calls them
   * @throws chat_template_failed where it has a fault; chat_refused where it does not write this conversation
   */
  render(messages: readonly ChatMessage[], specials: {bos?: string; eos?: string} = {}): string {
    if (this.fault !== undefined) throw this.fault
    try {
      return messages.at(-1)?.role === 'assistant'
        ? this.#renderOpen(messages, specials)
        : this.#render(messages, specials)
    } catch (error) {
      throw new SvcError('chat_refused', {reason: (error as Error).message.replace(/\.$/, '')}, {cause: error})
    }
  }

  /**
   * Ends where the last message does: what the template writes behind it closes the turn. Blanks at its end are left out
   * where the template trims messages, as in transformers.
   */
  #renderOpen(messages: readonly ChatMessage[], specials: {bos?: string; eos?: string}): string {
    const marked = messages.map((message, i) => {
      const content = message.content.replaceAll(endMark, '\uFFFD')
      return {...message, content: i === messages.length - 1 ? `${content}${endMark} ` : content}
    })
    const text = this.#render(marked, specials, false)
    const end = text.lastIndexOf(endMark)
    if (end === -1) throw new Refused('it does not write the last message of the assistant')
    const open = text.slice(0, end)
    return text[end + 1] === ' ' ? open : open.trimEnd()
  }

  /** Writes a short conversation. A template may want another one, but must not break. */
  #try(): void {
    let fault: unknown
    for (const messages of trials)
      try {
        this.#render(messages, {})
        return
      } catch (error) {
        if (error instanceof Refused) return
        fault = error
      }
    throw fault
  }

  #render(
    messages: readonly ChatMessage[],
    {bos = '', eos = ''}: {bos?: string; eos?: string},
    asksForTurn = true,
  ): string {
    return (this.#template as Template).render({
      messages,
      add_generation_prompt: asksForTurn,
      bos_token: bos,
      eos_token: eos,
      [refusal]: (message: unknown) => {
        throw new Refused(String(message))
      },
    })
  }
}

/** How ChatML writes a conversation. Source: the chat markup that OpenAI published in 2023. */
export const chatml = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`

/** The template that `tokenizer_config.json` declares: one text, or the one named `default`. */
export function declaredTemplate(tokenizerConfig: Readonly<Record<string, unknown>>): string | undefined {
  const {chat_template: declared} = tokenizerConfig
  const source = Array.isArray(declared)
    ? declared.find((candidate) => candidate?.name === 'default')?.template
    : declared
  return typeof source === 'string' ? source : undefined
}
