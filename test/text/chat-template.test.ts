import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ChatTemplate, declaredTemplate} from '../../src/text/index.js'

const chatml = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`

describe('a chat template', () => {
  it('asks for the assistant’s turn', () =>
    assert.equal(
      new ChatTemplate(chatml, 'chat_template.jinja').render([{role: 'user', content: 'Hi'}]),
      '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
    ))

  it('knows the special tokens by name', () =>
    assert.equal(
      new ChatTemplate('{{ bos_token }}{{ messages[0].content }}{{ eos_token }}', 'f').render(
        [{role: 'user', content: 'Hi'}],
        {bos: '<s>', eos: '</s>'},
      ),
      '<s>Hi</s>',
    ))

  it('that is no template names its file', () =>
    assert.throws(() => new ChatTemplate('{% for %}', '/m/chat_template.jinja'), {
      code: 'chat_template_failed',
      message: /\/m\/chat_template\.jinja/,
    }))

  it('that refuses a conversation says why', () =>
    assert.throws(() => new ChatTemplate('{{ raise_exception("no user") }}', 'f').render([]), {
      code: 'chat_template_failed',
      message: /no user/,
    }))

  it('is declared as one text, or as the one named default', () => {
    assert.equal(declaredTemplate({chat_template: 'x'}), 'x')
    const named = [
      {name: 'tools', template: 'y'},
      {name: 'default', template: 'x'},
    ]
    assert.equal(declaredTemplate({chat_template: named}), 'x')
    assert.equal(declaredTemplate({}), undefined)
    assert.equal(declaredTemplate({chat_template: [{name: 'tools', template: 'y'}]}), undefined)
  })
})
