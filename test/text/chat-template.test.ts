import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ChatTemplate, chatml, declaredTemplate, declaredToolTemplate} from '../../src/text/index.js'

const user = [{role: 'user', content: 'Hi'}] as const
const specials = {bos_token: '<s>', eos_token: '</s>'}

describe('ChatTemplate', () => {
  it('adds the generation prompt', () =>
    assert.equal(
      new ChatTemplate(chatml, 'chat_template.jinja').render([{role: 'user', content: 'Hi'}]),
      '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
    ))

  /** Templates of published families, and the prompt that continues an assistant message `  It is `. */
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
      'a template that always adds the generation prompt',
      `{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}assistant:`,
      'user: q\nassistant:   It is ',
    ],
  ]
  for (const [family, source, prompt] of open)
    it(`leaves a final assistant message open: ${family}`, () => {
      const messages = [
        {role: 'user', content: 'q'},
        {role: 'assistant', content: '  It is '},
      ] as const
      assert.equal(new ChatTemplate(source, 'f', specials).render(messages), prompt)
    })

  it('closes earlier assistant messages', () =>
    assert.equal(
      new ChatTemplate(chatml, 'f').render([
        {role: 'assistant', content: 'a'},
        {role: 'user', content: 'q\ufdd1'},
        {role: 'assistant', content: ''},
      ]),
      '<|im_start|>assistant\na<|im_end|>\n<|im_start|>user\nq\ufffd<|im_end|>\n<|im_start|>assistant\n',
    ))

  it('rejects the conversation if the template omits the final assistant message', () =>
    assert.throws(
      () => new ChatTemplate('{{ messages[0].content }}', 'f').render([...user, {role: 'assistant', content: 'It is'}]),
      {code: 'chat_refused', message: /omits the last message of the assistant/},
    ))

  it('provides bos_token and eos_token', () =>
    assert.equal(
      new ChatTemplate('{{ bos_token }}{{ messages[0].content }}{{ eos_token }}', 'f', specials).render(user),
      '<s>Hi</s>',
    ))

  for (const [what, source, reason] of [
    ['is not a template', '{% for %}', /\/m\/chat_template\.jinja/],
    ['uses unsupported features', '{{ messages | selectattr(none) | nothing }}', /\/m\/chat_template\.jinja/],
  ] as const)
    it(`sets an error with the file name if the source ${what}`, () => {
      const template = new ChatTemplate(source, '/m/chat_template.jinja')
      assert.equal(template.error?.code, 'chat_template_failed')
      assert.match(template.error?.message ?? '', reason)
      assert.throws(() => template.render([{role: 'user', content: 'x'}]), template.error)
    })

  it('sets an error if there is none named default', () => {
    const declared = declaredTemplate([
      {name: 'rag', template: 'x'},
      {name: 'tool_use', template: 'y'},
    ])
    const template = new ChatTemplate(declared ?? '', '/m/tokenizer_config.json')
    assert.match(
      template.error?.message ?? '',
      /tokenizer_config\.json cannot be used: .* default, only rag, tool_use\./,
    )
  })

  it('reports why the template rejects a conversation, without its path', () => {
    const source = `{% if messages[0].role != 'user' %}{{ raise_exception('Roles must alternate.') }}{% endif %}x`
    const template = new ChatTemplate(source, '/m/chat_template.jinja')
    assert.equal(template.error, undefined)
    assert.equal(template.render([{role: 'user', content: 'x'}]), 'x')
    assert.throws(() => template.render([{role: 'assistant', content: 'x'}]), {
      code: 'chat_refused',
      status: 400,
      message: 'The chat template of the model rejected the conversation: Roles must alternate.',
    })
  })

  it('sets no error if the template requires a system message or rejects every conversation', () => {
    const wants = `{% if messages[0].role != 'system' %}{{ raise_exception('no system') }}{% endif %}x`
    for (const source of [wants, `{{ raise_exception('never') }}`])
      assert.equal(new ChatTemplate(source, 'f').error, undefined)
  })

  it('has another text for conversations with tools or their calls, if one is named tool_use', () => {
    const named = [
      {name: 'default', template: 'plain'},
      {name: 'tool_use', template: '{{ tools[0].name if tools }} {{ messages[-1].content }}'},
    ]
    const source = declaredTemplate(named) ?? assert.fail()
    const template = new ChatTemplate(source, 'f', {}, declaredToolTemplate(named))
    const question = [{role: 'user', content: 'Hi'}] as const
    assert.equal(template.render(question), 'plain')
    assert.equal(template.render(question, {}, [{name: 'clock'}]), 'clock Hi')
    assert.equal(template.render([...question, {role: 'tool', content: 'noon'}]), ' noon')
    assert.equal(declaredToolTemplate('x'), undefined)
    assert.equal(new ChatTemplate('x', 'f', {}, '{% if').error?.code, 'chat_template_failed')
  })

  it('is declared as a string, or as the list entry named default', () => {
    assert.equal(declaredTemplate('x'), 'x')
    const named = [
      {name: 'tools', template: 'y'},
      {name: 'default', template: 'x'},
    ]
    assert.equal(declaredTemplate(named), 'x')
    assert.equal(declaredTemplate(undefined), undefined)
    assert.deepEqual(declaredTemplate([{name: 'tools', template: 'y'}]), {
      reason: 'it is a list of named templates without the name default, only tools',
    })
  })
})
