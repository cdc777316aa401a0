import {Template} from '@huggingface/jinja'
import {SvcError} from '../errors/index.js'

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
}

/** The template rejects the conversation. */
class Refused extends Error {}
/** Replaces `raise_exception` in templates: the library's function throws an error like any other of its errors. */
const refusal = 'svc_raise_exception'

/** Marks the end of a message to continue: a Unicode noncharacter, which must not occur in text. */
const endMark = '\uFDD1'

/** Test conversations; a working template accepts at least one of them. */
const trials: readonly (readonly ChatMessage[])[] = [
  [{role: 'user', content: 'x'}],
  [
    {role: 'system', content: 'x'},
    {role: 'user', content: 'x'},
  ],
]

/** Formats a conversation in the form that the model was trained on. */
export class ChatTemplate {
  /** Set if the template is invalid or uses unsupported features. */
  readonly error: SvcError | undefined
  readonly #template: Template | undefined

  /** @param file origin of the source, for errors */
  constructor(source: string, file: string) {
    try {
      this.#template = new Template(source.replaceAll(/\braise_exception\b/g, refusal))
      this.#try()
    } catch (error) {
      const {message} = error as Error
      const reason = error instanceof TypeError ? `it uses an unsupported feature (${message})` : message
      this.error = new SvcError('chat_template_failed', {file, reason}, {cause: error})
    }
  }

  /**
   * The prompt for the assistant's next turn, or, if the last message is from the assistant, for the rest of that turn.
   * It contains special tokens as text.
   * @param specials `bos_token` and `eos_token` of the template
   * @throws chat_template_failed if the template is invalid; chat_refused if it rejects this conversation
   */
  render(messages: readonly ChatMessage[], specials: {bos?: string; eos?: string} = {}): string {
    if (this.error !== undefined) throw this.error
    try {
      return messages.at(-1)?.role === 'assistant'
        ? this.#renderOpen(messages, specials)
        : this.#render(messages, specials)
    } catch (error) {
      throw new SvcError('chat_refused', {reason: (error as Error).message.replace(/\.$/, '')}, {cause: error})
    }
  }

  /**
   * Cuts the prompt after the last message, before the text that closes its turn. If the template trims messages, trailing
   * white space of the message is dropped, as in transformers.
   */
  #renderOpen(messages: readonly ChatMessage[], specials: {bos?: string; eos?: string}): string {
    const marked = messages.map((message, i) => {
      const content = message.content.replaceAll(endMark, '\uFFFD')
      return {...message, content: i === messages.length - 1 ? `${content}${endMark} ` : content}
    })
    const text = this.#render(marked, specials, false)
    const end = text.lastIndexOf(endMark)
    if (end === -1) throw new Refused('it omits the last message of the assistant')
    const open = text.slice(0, end)
    return text[end + 1] === ' ' ? open : open.trimEnd()
  }

  /** Formats a test conversation. The template may reject it, but must not fail. */
  #try(): void {
    let failure: unknown
    for (const messages of trials)
      try {
        this.#render(messages, {})
        return
      } catch (error) {
        if (error instanceof Refused) return
        failure = error
      }
    throw failure
  }

  #render(
    messages: readonly ChatMessage[],
    {bos = '', eos = ''}: {bos?: string; eos?: string},
    addGenerationPrompt = true,
  ): string {
    return (this.#template as Template).render({
      messages,
      add_generation_prompt: addGenerationPrompt,
      bos_token: bos,
      eos_token: eos,
      [refusal]: (message: unknown) => {
        throw new Refused(String(message))
      },
    })
  }
}

/** The ChatML template. Source: the chat markup that OpenAI published in 2023. */
export const chatml = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`

/** The template in `tokenizer_config.json`: a string, or the entry named `default` of a list. */
export function declaredTemplate(tokenizerConfig: Readonly<Record<string, unknown>>): string | undefined {
  const {chat_template: declared} = tokenizerConfig
  const source = Array.isArray(declared)
    ? declared.find((candidate) => candidate?.name === 'default')?.template
    : declared
  return typeof source === 'string' ? source : undefined
}
