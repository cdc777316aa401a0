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

  for (const [what, source, reason] of [
    ['is no template', '{% for %}', /\/m\/chat_template\.jinja/],
    ['uses what is not supported', '{{ messages | selectattr(none) | nothing }}', /\/m\/chat_template\.jinja/],
  ] as const)
    it(`that ${what} has a fault, which names its file`, () => {
      const template = new ChatTemplate(source, '/m/chat_template.jinja')
      assert.equal(template.fault?.code, 'chat_template_failed')
      assert.match(template.fault?.message ?? '', reason)
      assert.throws(() => template.render([{role: 'user', content: 'x'}]), template.fault)
    })

  it('that refuses a conversation says why, and not where it lies', () => {
    const source = `{% if messages[0].role != 'user' %}{{ raise_exception('Roles must alternate.') }}{% endif %}x`
    const template = new ChatTemplate(source, '/m/chat_template.jinja')
    assert.equal(template.fault, undefined)
    assert.equal(template.render([{role: 'user', content: 'x'}]), 'x')
    assert.throws(() => template.render([{role: 'assistant', content: 'x'}]), {
      code: 'chat_refused',
      status: 400,
      message: 'The chat template of the model refuses this conversation: Roles must alternate.',
    })
  })

  it('that wants a system message, or refuses everything, has no fault', () => {
    const wants = `{% if messages[0].role != 'system' %}{{ raise_exception('no system') }}{% endif %}x`
    for (const source of [wants, `{{ raise_exception('never') }}`])
      assert.equal(new ChatTemplate(source, 'f').fault, undefined)
  })

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
