import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ChatTemplate, chatml, declaredTemplate} from '../../src/text/index.js'

const user = [{role: 'user', content: 'Hi'}] as const

describe('a chat template', () => {
  it('asks for the assistant’s turn', () =>
    assert.equal(
      new ChatTemplate(chatml, 'chat_template.jinja').render([{role: 'user', content: 'Hi'}]),
      '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
    ))

  /** How published families write a turn, and what they write before one that goes on with `  It is `. */
  const open: readonly [family: string, source: string, prompt: string][] = [
    ['ChatML', chatml, '<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n  It is '],
    [
      'Llama 3',
      `{{ bos_token }}{% for message in messages %}{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}`,
      '<s><|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nIt is',
    ],
    [
      'Mistral',
      `{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token }}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}`,
      '<s>[INST] q [/INST]  It is ',
    ],
    [
      'one that always asks for a turn',
      `{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}assistant:`,
      'user: q\nassistant:   It is ',
    ],
  ]
  for (const [family, source, prompt] of open)
    it(`of ${family} leaves a turn of the assistant open that ends the conversation`, () => {
      const messages = [
        {role: 'user', content: 'q'},
        {role: 'assistant', content: '  It is '},
      ] as const
      assert.equal(new ChatTemplate(source, 'f').render(messages, {bos: '<s>', eos: '</s>'}), prompt)
    })

  it('that closes earlier turns of the assistant leaves none of them open', () =>
    assert.equal(
      new ChatTemplate(chatml, 'f').render([
        {role: 'assistant', content: 'a'},
        {role: 'user', content: 'q\ufdd1'},
        {role: 'assistant', content: ''},
      ]),
      '<|im_start|>assistant\na<|im_end|>\n<|im_start|>user\nq\ufffd<|im_end|>\n<|im_start|>assistant\n',
    ))

  it('that does not write the assistant’s last message refuses to go on with it', () =>
    assert.throws(
      () => new ChatTemplate('{{ messages[0].content }}', 'f').render([...user, {role: 'assistant', content: 'It is'}]),
      {code: 'chat_refused', message: /does not write the last message of the assistant/},
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
      message: 'The chat template of the model rejected the conversation: Roles must alternate.',
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
