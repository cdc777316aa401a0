import {Template} from '@huggingface/jinja'
import {SvcError} from '../errors/index.js'

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
}

/** Turns a conversation into the text a model was trained on. */
export class ChatTemplate {
  readonly #file: string
  readonly #template: Template

  /** @throws chat_template_failed when the source is not a template */
  constructor(source: string, file: string) {
    this.#file = file
    this.#template = this.#guard(() => new Template(source))
  }

  /**
   * The prompt that asks for the assistant's next turn. It holds its special tokens as text.
   * @param specials `bos_token` and `eos_token`, as the template calls them
   */
  render(messages: readonly ChatMessage[], specials: {bos?: string; eos?: string} = {}): string {
    return this.#guard(() =>
      this.#template.render({
        messages,
        add_generation_prompt: true,
        bos_token: specials.bos ?? '',
        eos_token: specials.eos ?? '',
      }),
    )
  }

  #guard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw new SvcError('chat_template_failed', {file: this.#file, reason: (error as Error).message}, {cause: error})
    }
  }
}

/** How ChatML writes a conversation. Source: the chat markup that OpenAI published in 2023. */
export const chatml = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}{% if not loop.last or message.role != 'assistant' %}<|im_end|>
{% endif %}{% endfor %}{% if messages[-1].role != 'assistant' %}<|im_start|>assistant
{% endif %}`

/** The template that `tokenizer_config.json` declares: one text, or the one named `default`. */
export function declaredTemplate(tokenizerConfig: Readonly<Record<string, unknown>>): string | undefined {
  const {chat_template: declared} = tokenizerConfig
  const source = Array.isArray(declared)
    ? declared.find((candidate) => candidate?.name === 'default')?.template
    : declared
  return typeof source === 'string' ? source : undefined
}
