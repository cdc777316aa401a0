import {tinyLlama, writeRandomModel} from '../bench/random-model.js'
import {writeFiles} from './temporary.js'
import {byteTokenizer} from './tiny-model.js'

/** Each token of the model is followed by the next one: after `<|ask|>` a call and its end, after `<|answer|>` an answer. */
const tokens = ['<|ask|>', '<tool_call>', '<|answer|>', 'Rain.', '<|end|>', '</tool_call>', '<|end_of_call|>']
const first = 257
const idOf = (token: string) => first + tokens.indexOf(token)
const template = `{% for tool in tools or [] %}{{ tool | tojson }}
{% endfor %}{% for message in messages %}{{ message.role }}: {{ message.content or '' }}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}
{% endfor %}{{ '<|answer|>' if messages[-1].role == 'tool' else '<|ask|>' }}`

function tokenizer(): object {
  const bytes = byteTokenizer() as {added_tokens: object[]}
  const added = tokens.map((content, i) => ({
    id: first + i,
    content,
    special: content.includes('|'),
    normalized: false,
  }))
  return {...bytes, added_tokens: [...bytes.added_tokens, ...added]}
}

const shape = {
  ...tinyLlama,
  vocab_size: first + tokens.length,
  hidden_size: 64,
  intermediate_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
}

/** Writes a model that calls a tool when it is asked, and answers "Rain." when the result arrives. */
export async function writeAgentModel(folder: string): Promise<void> {
  await writeRandomModel(folder, shape, 'F32', {chain: true})
  await writeFiles(folder, {
    'tokenizer.json': JSON.stringify(tokenizer()),
    'generation_config.json': JSON.stringify({eos_token_id: [idOf('<|end|>'), idOf('<|end_of_call|>')]}),
    'chat_template.jinja': template,
  })
}
