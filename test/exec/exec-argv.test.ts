import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../src/errors/index.js'
import {type ExecTemplates, execBuiltins, planExec, resolveArgv} from '../../src/exec/exec-argv.js'
import {aTask} from '../scheduler/processors/a-task.js'

const builtins = execBuiltins({id: 42, description: 'Say {x}; rm -rf $(root)'}, '/w')
const resolve = (templates: ExecTemplates, params: Record<string, string> = {}, template = 't') =>
  resolveArgv({template, params}, templates, builtins)

describe('the command line of a task', () => {
  const cases: readonly [string, readonly string[], Record<string, string>, string[]][] = [
    ['is unchanged without placeholders', ['make', '-s'], {}, ['make', '-s']],
    ['contains the values of the task', ['p', '{a}', '{b}'], {a: '1', b: '2'}, ['p', '1', '2']],
    ['replaces placeholders within an argument', ['p', '--in={a}/{b}.{a}'], {a: 'x', b: 'y'}, ['p', '--in=x/y.x']],
    ['contains built-in values', ['p', '{task_id}', '{root}'], {}, ['p', '42', '/w']],
    ['keeps a value in one argument', ['p', '{description}'], {}, ['p', 'Say {x}; rm -rf $(root)']],
    ['does not replace placeholders in a value', ['p', '{a}', '{b}'], {a: '{b}', b: '{a}'}, ['p', '{b}', '{a}']],
    ['keeps $& in a value', ['p', '{a}'], {a: '$& $1'}, ['p', '$& $1']],
    ['accepts an empty value', ['p', '{a}'], {a: ''}, ['p', '']],
    [
      'keeps other braces',
      ['p', '{print $1}', '{}', '{"a": {"b": 1}}', '{1}'],
      {},
      ['p', '{print $1}', '{}', '{"a": {"b": 1}}', '{1}'],
    ],
  ]
  for (const [name, template, params, expected] of cases)
    it(name, () => assert.deepEqual(resolve({t: template}, params), expected))
})

describe('an invalid command line request', () => {
  const program = {lint: ['lint', '{file}']}
  const cases: readonly [string, () => unknown, SvcError['code'], RegExp][] = [
    [
      'names no template',
      () => resolveArgv(undefined, program, builtins),
      'exec_template_missing',
      /names no command template/,
    ],
    [
      'names an unknown template',
      () => resolve(program, {}, 'rm'),
      'exec_template_unknown',
      /defines no command template rm under \[orchestrator\.exec\.templates\]\.$/,
    ],
    ['misspells a template', () => resolve(program, {}, 'lnit'), 'exec_template_unknown', /Did you mean lint\?$/],
    ['names an object member', () => resolve(program, {}, 'constructor'), 'exec_template_unknown', /constructor/],
    ['lacks a value', () => resolve(program, {}, 'lint'), 'exec_params_missing', /lint requires a value for file\.$/],
    [
      'has an unused value',
      () => resolve(program, {file: 'a', shell: 'b'}, 'lint'),
      'exec_params_unused',
      /lint has no placeholder shell\.$/,
    ],
    [
      'misspells a value',
      () => resolve(program, {fiel: 'a'}, 'lint'),
      'exec_params_unused',
      /fiel\. Did you mean file\?$/,
    ],
    ['sets a built-in value', () => resolve({t: ['p', '{root}']}, {root: '/'}), 'exec_param_invalid', /value of root/],
    [
      'has a NUL in a value',
      () => resolve(program, {file: 'a\0b'}, 'lint'),
      'exec_param_invalid',
      /value of file .* NUL/,
    ],
    [
      'has a NUL in its description',
      () => resolveArgv({template: 't', params: {}}, {t: ['p', '{description}']}, {...builtins, description: '\0'}),
      'exec_param_invalid',
      /value of description .* NUL/,
    ],
    [
      'selects the program by a value',
      () => resolve({t: ['{a}', '-v']}, {a: 'sh'}),
      'exec_template_invalid',
      /placeholder/,
    ],
    ['uses an empty template', () => resolve({t: []}), 'exec_template_invalid', /names no program/],
    ['uses a template with a NUL', () => resolve({t: ['p', 'a\0']}), 'exec_template_invalid', /NUL/],
  ]
  for (const [name, attempt, code, message] of cases)
    it(`${name}: fails`, () => {
      assert.throws(attempt, (error) => error instanceof SvcError && error.code === code && message.test(error.message))
    })

  it('is rejected for any template if commands are disabled', () => {
    const task = aTask({exec: {template: 'rm', params: {}}})
    assert.throws(() => planExec(task, {enabled: false, templates: program, root: '/w', secrets: []}), {
      code: 'exec_disabled',
    })
    assert.throws(() => planExec(task, {enabled: true, templates: program, root: '/w', secrets: []}), {
      code: 'exec_template_unknown',
    })
  })
})
