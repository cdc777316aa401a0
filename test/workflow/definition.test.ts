import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {durationMs} from '../../src/workflow/definition/activity.js'
import {compileExpression, ExpressionFailure} from '../../src/workflow/definition/expression.js'
import {checkWorkflows, findWorkflow, readWorkflows} from '../../src/workflow/definition/read.js'
import {compileTemplate} from '../../src/workflow/definition/template.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {workflow} from './support.js'

describe('expressions of workflows', () => {
  const evaluate = (text: string, input: unknown) => compileExpression(text, ['input'])({input})

  it('read members of values without static types', () => {
    assert.equal(evaluate('input.n * 2 + 1', {n: 3}), 7)
    assert.equal(evaluate('input.names[1].trim()', {names: ['a', ' b ']}), 'b')
    assert.equal(evaluate('input.missing is None and input.empty is None', {empty: null}), true)
    assert.deepEqual(evaluate('input.list.map(fn(x) x + 1)', {list: [1, 2]}), [2, 3])
    assert.equal(evaluate('if input.ok { "yes" } else { "no" }', {ok: false}), 'no')
  })

  it('keep members that are null', () => {
    assert.deepEqual(evaluate('input', {a: null, b: [null, {c: 1}]}), {a: null, b: [null, {c: 1}]})
  })

  it('refuse what a resumed run would evaluate differently', () => {
    for (const text of [
      'std.time.now_ms()',
      'std.crypto.uuid()',
      'std.env.get("HOME")',
      'print("x")',
      '[1].map(fn(x) std.time.now_ms())',
    ])
      assert.throws(() => compileExpression(text, ['input']), ExpressionFailure, text)
  })

  it('report what is wrong', () => {
    assert.throws(() => compileExpression('input.a +', ['input']), ExpressionFailure)
    assert.throws(() => compileExpression('other', ['input']), /Undefined name 'other'/)
    assert.throws(() => compileExpression('1) } fn g() to int { return (2', ['input']), ExpressionFailure)
    assert.throws(() => evaluate('input.a < "x"', {a: {}}), ExpressionFailure)
  })
})

describe('templates of workflows', () => {
  const render = (value: unknown, input: unknown) => compileTemplate(value, ['input'])({input})

  it('keep the type of a lone expression', () => {
    assert.deepEqual(render({a: ['${{ input.n }}'], b: 1}, {n: 4}), {a: [4], b: 1})
  })

  it('put values into texts', () => {
    assert.equal(render('v${{ input.n }}-${{ input.s }}${{ input.missing }}', {n: 4, s: 'x'}), 'v4-x')
    assert.equal(render('${{ {a: "}}"}.a }}!', {}), '}}!')
    assert.equal(render('$HOME {{x}} $1', {}), '$HOME {{x}} $1')
    assert.equal(render('', {}), '')
  })

  it('refuse an expression without an end', () => {
    assert.throws(() => compileTemplate('a ${{ input', ['input']), /has no \}\}/)
  })
})

describe('definitions of workflows', () => {
  it('read durations', () => {
    assert.deepEqual(
      [5, '500ms', '1.5s', '2m', '1h', '1d'].map(durationMs),
      [5, 500, 1500, 120_000, 3_600_000, 86_400_000],
    )
  })

  const faults: Readonly<Record<string, [string, RegExp]>> = {
    'no activity': ['steps: [{id: a}]', /step 0: it has no activity/],
    'two activities': ['steps: [{value: 1, timer: 1s}]', /more than one activity: /],
    'an id twice': [
      'steps: [{id: a, value: 1}, {if: "true", then: [{id: a, value: 2}]}]',
      /step 1\.then\.0: the id a is used twice/,
    ],
    'an unknown name': ['steps: [{value: "${{ nothing.x }}"}]', /step 0: .*nothing/],
    'a program that is computed': ['steps: [{exec: ["${{ input.x }}"]}]', /program of exec/],
    'an approval without an id': ['steps: [{approval: Go?}]', /needs an id/],
    'a key of another kind': ['steps: [{value: 1, env: {A: b}}]', /env belongs to exec/],
    'a directory for a value': ['steps: [{value: 1, cwd: a}]', /cwd belongs to exec/],
    'a text without a shell': ['steps: [{exec: echo a}]', /exec must be a list .* or needs shell: true/],
    'a list with a shell': ['steps: [{exec: [echo], shell: true}]', /with shell, exec must be one text/],
    'a script with an expression': [
      'steps: [{exec: "echo ${{ input.x }}", shell: true}]',
      /script must not contain an expression; pass its value in env/,
    ],
    'a key of a block': ['steps: [{value: 1, concurrency: 2}]', /concurrency does not belong to value/],
    'steps without a loop': ['steps: [{for_each: [1]}]', /for_each needs steps/],
    'then without if': ['steps: [{then: [{value: 1}]}]', /then needs if/],
    'a timer after the year 9999': [
      'steps: [{timer: 99999999999d}]',
      /step 0: the duration 99999999999d is longer than/,
    ],
    'a timeout beyond exact numbers': [
      'steps: [{value: 1, timeout: 9007199254740993}]',
      /step 0: the duration 9\d+ is longer/,
    ],
    'a compensation of a compensation': [
      'steps: [{value: 1, compensate: {value: 2, compensate: {value: 3}}}]',
      /compensation must be one activity/,
    ],
  }
  for (const [name, [yaml, message]] of Object.entries(faults))
    it(`refuse ${name}`, () => {
      assert.throws(
        () => workflow(yaml),
        (error: unknown) => isErrorOf(error, 'workflow_invalid') && message.test(error.message),
      )
    })

  it('have a digest that does not depend on the order of members', () => {
    const digest = workflow('steps: [{id: a, value: {x: 1, y: 2}}]').digest
    assert.equal(workflow('steps: [{value: {y: 2, x: 1}, id: a}]').digest, digest)
    assert.notEqual(workflow('steps: [{id: a, value: {x: 1, y: 3}}]').digest, digest)
  })

  it('are read from files by name', async (test) => {
    const root = await temporaryFolder(test)
    const file = `${root}/two.yaml`
    const one = '{steps: [{value: 1}]}'
    await writeFiles(root, {
      'two.yaml': `version: 1\nworkflows: {first: ${one}, second: ${one}}`,
      'bad.yaml': 'version: 2',
    })
    const workflows = await readWorkflows(file)
    assert.equal(findWorkflow(workflows, file, 'second').name, 'second')
    assert.throws(() => findWorkflow(workflows, file, undefined), /several workflows: first, second/)
    assert.throws(() => findWorkflow(workflows, file, 'secnd'), /no workflow secnd.*second/)
    await assert.rejects(
      readWorkflows(`${root}/bad.yaml`),
      (error) =>
        isErrorOf(error, 'workflow_invalid') && /bad\.yaml:1:\d+: .* \(and 1 more error\)/s.test(error.message),
    )
    await assert.rejects(readWorkflows(`${root}/none.yaml`), (error) => isErrorOf(error, 'file_not_found'))
  })

  it('can merge maps, and have keys of their own', async (test) => {
    const root = await temporaryFolder(test)
    const steps = (own: string) => `
x-run: &run {cwd: build, env: {PORT: 80}}
workflows:
  flow:
    x-owner: ${own}
    steps:
      - {<<: *run, id: a, exec: ['true'], x-note: ${own}}
      - {if: 'true', x-note: ${own}, then: [{value: 1, x-note: ${own}}]}
`
    await writeFiles(root, {'one.yaml': `version: 1${steps('ann')}`, 'two.yaml': `version: 1${steps('bob')}`})
    const [[one], [two]] = await Promise.all([readWorkflows(`${root}/one.yaml`), readWorkflows(`${root}/two.yaml`)])
    const [step] = one?.steps ?? []
    const args = step?.kind === 'activity' ? step.activity.args({}) : undefined
    assert.deepEqual(args, {argv: ['true'], env: {PORT: '80'}, json: false, cwd: 'build'})
    assert.equal(one?.digest, two?.digest)
  })

  for (const line of ['exec: [echo, ${{ input.name }}]', 'value: ${{ {a: 1} }}', 'parallel: {a: [{value: ${{ 1 }}}]}'])
    it(`that cannot be parsed say to quote: ${line}`, async (test) => {
      const root = await temporaryFolder(test)
      const file = `${root}/bad.yaml`
      await writeFiles(root, {'bad.yaml': `version: 1\nworkflows:\n  flow:\n    steps:\n      - ${line}\n`})
      await assert.rejects(
        readWorkflows(file),
        (error: Error) =>
          isErrorOf(error, 'document_unparsable') && /; quote the text that contains \$\{\{/.test(error.message),
      )
    })
})

describe('checkWorkflows', () => {
  const head = 'version: 1\nworkflows:\n  w:\n    steps:\n'
  /** A file, and its findings: code, the text that they refer to, message and hints. */
  const cases: Readonly<Record<string, [string, ...[code: string, text: string, said: RegExp][]]>> = {
    'an unclosed bracket': [`${head}      - exec: [a`, ['document_unparsable', '', /Flow sequence/]],
    'a missing member': [
      'workflows: {w: {steps: [{value: 1}]}}',
      ['workflow_invalid', 'workflows', /Missing member "version"/],
    ],
    'an unknown member': [
      `${head}      - value: 1\n        retires: 2\n`,
      ['workflow_invalid', 'retires', /Unknown member "retires".*Did you mean retries\?/],
    ],
    'names of other programs': [
      `${head}      - run: [a]\n        when: input.b\n`,
      ['workflow_invalid', 'run', /Unknown member "run".*Did you mean exec\?/],
      ['workflow_invalid', 'when', /Unknown member "when".*Did you mean if\?/],
    ],
    'a value of another type': [
      `${head}      - exec: 3\n`,
      ['workflow_invalid', '3', /^exec must be a list or a text\./],
    ],
    'a program without its list': [
      `${head}      - exec: echo\n`,
      [
        'workflow_invalid',
        'exec',
        /Step 0: exec must be a list of the program and its arguments, or needs shell: true\./,
      ],
    ],
    'no alternative of a value': [
      `${head}      - transcribe: 3\n      - transcribe: {file: 3}\n`,
      ['workflow_invalid', '3', /^transcribe must be a text or a mapping\./],
      ['workflow_invalid', '3', /^file must be a text\./],
    ],
    'names in expressions': [
      `${head}      - if: inptu.a\n        then:\n          - value: |\n              a\n              \${{ steps.x + inpt.y }}\n`,
      ['typecheck.undefined', 'inptu', /Undefined name 'inptu'.*Use input/],
      ['typecheck.undefined', 'inpt', /Undefined name 'inpt'.*Use input/],
    ],
    'faults of several steps': [
      `${head}      - id: a\n        value: 1\n      - id: a\n        timer: 1s\n      - value: 1\n        env: {A: b}\n`,
      ['workflow_invalid', 'id', /Step 1: the id a is used twice\./],
      ['workflow_invalid', 'value', /Step 2: env belongs to exec\./],
    ],
    'an incomplete expression in JSON': [
      '{"version": 1, "workflows": {"w": {"steps": [{"value": "${{ 1 + }}"}]}}}',
      ['parse.unexpected_token', '', /found end of expression/],
    ],
    nothing: [`${head}      - value: \${{ input.a }}\n`],
  }
  for (const [name, [source, ...expected]] of Object.entries(cases))
    it(`finds the places of ${name}`, async (test) => {
      const file = name.includes('JSON') ? 'f.json' : 'f.yaml'
      const root = await temporaryFolder(test)
      await writeFiles(root, {[file]: source})
      const {findings, workflows} = await checkWorkflows(`${root}/${file}`)
      assert.equal(workflows.length, expected.length === 0 ? 1 : 0)
      assert.equal(findings.length, expected.length, JSON.stringify(findings))
      for (const [i, [code, text, said]] of expected.entries()) {
        const {code: found, start = 0, end = 0, message = '', hints = [], fixes = []} = findings[i] ?? {code: ''}
        assert.deepEqual([found, source.slice(start, end).slice(0, text.length)], [code, text])
        assert.match([message, ...hints, ...fixes.map(({label}) => label)].join(' '), said)
      }
    })
})
