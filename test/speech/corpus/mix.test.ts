import assert from 'node:assert/strict'
import {appendFile, readdir, readFile, stat, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {contractViolations} from '../../../src/contracts/index.js'
import {SvcError} from '../../../src/errors/index.js'
import {type MixOptions, mixCorpus} from '../../../src/speech/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

type Changes = Partial<Omit<MixOptions, 'file' | 'base'>>

/** A folder with a mix file and its sources. `mix` runs it, and returns the result, the rows and the warnings. */
async function corpus(test: TestContext, mixFile: string, files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder(test)
  await writeFiles(folder, {'mix.yaml': mixFile, ...files})
  const mix = async (changes: Changes = {}) => {
    const warnings: string[] = []
    const result = await mixCorpus({
      file: join(folder, 'mix.yaml'),
      base: folder,
      output: undefined,
      strict: false,
      overwrite: false,
      force: false,
      signal: new AbortController().signal,
      onWarning: (text) => warnings.push(text),
      onProgress: () => undefined,
      ...changes,
    })
    const text = await readFile(result.output, 'utf8')
    const rows = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    return {result, rows, text, warnings}
  }
  return {folder, mix}
}

const lines = (...rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const plain = (count: number) => lines(...Array.from({length: count}, (_, i) => ({prompt: `p${i}`, response: 'r'})))
const only = (path: string, more = '') => `sources:\n  - {path: ${path}${more}}\noutput: out/train.jsonl\n`

describe('a mix', () => {
  it('repeats its sources, converts their rows and reports their shares', async (test) => {
    const {folder, mix} = await corpus(
      test,
      `sources:
  - path: pairs.jsonl
    weight: 1.2
    record_format: asr_refine
  - path: code.jsonl
  - path: gone.jsonl
    optional: true
  - path: zero.jsonl
    weight: 0
  - path: empty.jsonl
output: out/train.jsonl
include_lanes: [svc_codegen, svc_speech]
`,
      {
        'pairs.jsonl': lines({noisy_text: 'helo wrld', corrected_text: 'hello world', rating: 4, source: 'synthetic'}),
        'code.jsonl': plain(2),
        'empty.jsonl': '\n \r\n',
      },
    )
    const {result, rows, warnings} = await mix()
    assert.deepEqual(await contractViolations('cli/speech-corpus-mix.v1', result), [])
    assert.deepEqual([result.state, result.output_lines, warnings], ['mixed', 4, []])
    const {prompt, ...pair} = rows[0]
    assert.match(prompt, /^Correct .*\n\nhelo wrld$/)
    assert.deepEqual(pair, {
      response: 'hello world',
      category: 'asr_refine',
      rating: 4,
      lane: 'svc_speech',
      response_mode: 'prose_only',
      task_family: 'asr_refine',
      origin: 'synthetic',
    })
    assert.deepEqual(rows[1], rows[0])
    assert.deepEqual(rows[2], {
      prompt: 'p0',
      response: 'r',
      lane: 'svc_codegen',
      response_mode: 'code_only',
      task_family: 'general',
      origin: 'human',
    })
    const told = result.sources.map((source) => [
      source.repeats,
      source.emitted_lines,
      source.share_of_output,
      source.skipped_reason,
    ])
    assert.deepEqual(told, [
      [2, 2, 0.5, undefined],
      [1, 2, 0.5, undefined],
      [0, 0, 0, 'missing_file_optional'],
      [0, 0, 0, 'weight_zero'],
      [1, 0, 0, 'empty_file'],
    ])
    assert.equal(result.report, join(folder, 'out/train.mix_report.json'))
    const report = JSON.parse(await readFile(result.report, 'utf8'))
    assert.deepEqual(await contractViolations('speech/corpus-mix-report.v1', report), [])
    assert.deepEqual(await readdir(join(folder, 'out')), ['train.jsonl', 'train.mix_report.json'])
  })

  it('says why all rows of a source are dropped', async (test) => {
    const pair = lines({noisy_text: 'a', corrected_text: 'b'})
    const {mix} = await corpus(test, only('pairs.jsonl', ', record_format: asr_refine'), {'pairs.jsonl': pair})
    const {result, warnings} = await mix()
    assert.equal(result.sources[0]?.skipped_reason, 'no_lines_passed_filters')
    assert.deepEqual(warnings, [
      'pairs.jsonl: no row is written (1 dropped), because their lane is svc_speech, and include_lanes has only svc_codegen.',
      'The output is empty.',
    ])
  })

  it('drops excluded lanes, even if they are included', async (test) => {
    const mixFile = `${only('a.jsonl')}include_lanes: [x, y]\nexclude_lanes: [y]\n`
    const {mix} = await corpus(test, mixFile, {'a.jsonl': lines({lane: 'x'}, {lane: 'y'}, {lane: 'z'}, {})})
    const {result, rows, warnings} = await mix()
    assert.deepEqual([rows.length, rows[0].lane, result.sources[0]?.dropped_lines, warnings], [1, 'x', 3, []])
    const {mix: other} = await corpus(test, mixFile, {'a.jsonl': lines({lane: 'y'})})
    assert.match((await other()).warnings[0] ?? '', /because exclude_lanes has their lane y\.$/)
  })

  it('skips invalid rows and names the first ones', async (test) => {
    const invalid = [
      '{',
      '[]',
      'null',
      '{"noisy_text": 5}',
      '{"noisy_text": "a"}',
      '{"noisy_text":"a","corrected_text":"b","rating":6}',
      '{"noisy_text":"a","corrected_text":"b","lane":1}',
    ]
    const source = [...invalid, '{"noisy_text":"a","corrected_text":"b"}', ''].join('\n')
    const mixFile = `${only('a.jsonl', ', record_format: asr_refine, weight: 2')}include_lanes: [svc_speech]\n`
    const {mix} = await corpus(test, mixFile, {'a.jsonl': `\uFEFF\n${source}`})
    const {result, rows, warnings} = await mix()
    const [{input_lines, invalid_lines, emitted_lines} = assert.fail()] = result.sources
    assert.deepEqual([input_lines, invalid_lines, emitted_lines, rows.length], [8, 7, 2, 2])
    assert.deepEqual(warnings, [
      'a.jsonl, line 2, is skipped: it is not JSON.',
      'a.jsonl, line 3, is skipped: it is not a JSON object.',
      'a.jsonl, line 4, is skipped: it is not a JSON object.',
      'a.jsonl, line 5, is skipped: noisy_text must be a string.',
      'a.jsonl, line 6, is skipped: corrected_text must be a string.',
      'a.jsonl: 7 lines are skipped: it is not JSON (1), it is not a JSON object (2), noisy_text must be a string (1), corrected_text must be a string (1), rating must be an integer from 1 to 5 (1), lane must be a string (1).',
    ])
  })

  it('skips lines that are too long or not UTF-8, and reads on', async (test) => {
    const {folder, mix} = await corpus(test, only('a.jsonl'), {})
    const long = `{"prompt":"${'x'.repeat(17 << 20)}"}\n`
    await writeFile(
      join(folder, 'a.jsonl'),
      Buffer.concat([Buffer.from(`${long}{"prompt":"`), Buffer.of(255), Buffer.from('"}\n{}')]),
    )
    const {rows, warnings} = await mix()
    assert.equal(rows.length, 1)
    assert.deepEqual(warnings, [
      'a.jsonl, line 1, is skipped: it is longer than 16 MiB.',
      'a.jsonl, line 2, is skipped: it is not UTF-8.',
    ])
  })

  it('copies rows without a conversion as they are written', async (test) => {
    const row = '{ "prompt":"\\u00fc", "response":"r", "id": 12345678901234567890, "lane": "svc_codegen" }'
    const full = '{"lane":"svc_codegen","response_mode":"m","task_family":"f","origin":"agent"}'
    const {mix} = await corpus(test, only('a.jsonl'), {'a.jsonl': `${row}\n{}\n${full}\n`})
    const [first = '', second = '', third] = (await mix()).text.split('\n')
    assert.ok(first.startsWith(row.slice(0, -1)), first)
    assert.deepEqual(Object.keys(JSON.parse(second)), ['lane', 'response_mode', 'task_family', 'origin'])
    assert.equal(third, full)
  })

  it('makes rows of speech traces with code, and marks traces of tools', async (test) => {
    const trace = {
      schema_version: '1',
      session_id: 's1',
      refined_transcript: 'add a hello function',
      transcript_alternatives: ['add a hello function', 'at a hello function'],
      svc_code: 'fn hello() {}',
      rating: 4.5,
    }
    assert.deepEqual(await contractViolations('speech-to-code/speech_trace_training', trace), [])
    const mixFile = `sources:
  - {path: traces.jsonl, record_format: speech_to_code}
  - {path: tools.jsonl, record_format: tool_trace}
  - {path: workflows.jsonl, record_format: workflow_trace}
output: train.jsonl
include_lanes: [svc_speech, svc_tooling, svc_codegen]
`
    const {mix} = await corpus(test, mixFile, {
      'traces.jsonl': lines(trace, {prompt: 'p', response: 'r'}, {...trace, transcript_alternatives: 'x'}),
      'tools.jsonl': lines({tool: 'a'}),
      'workflows.jsonl': lines({steps: []}),
    })
    const {rows, warnings} = await mix()
    assert.match(rows[0].prompt, /^Write .*\n\nadd a hello function\n\nAlternative readings:\n- at a hello function$/)
    assert.deepEqual([rows[0].response, rows[0].category, rows[0].rating], ['fn hello() {}', 'speech_to_code', 4.5])
    const metadata = rows.map(({category, lane, origin}) => [category, lane, origin])
    assert.deepEqual(metadata, [
      ['speech_to_code', 'svc_speech', 'human'],
      [undefined, 'svc_speech', 'human'],
      ['tool_trace', 'svc_tooling', 'agent'],
      ['workflow_trace', 'svc_codegen', 'agent'],
    ])
    assert.deepEqual(warnings, [
      'traces.jsonl, line 3, is skipped: transcript_alternatives must be an array of strings.',
    ])
  })

  it('samples rows with the given probability, and the same ones each time', async (test) => {
    const {mix} = await corpus(test, only('a.jsonl', ', sample_rate: 0.25, weight: 2'), {'a.jsonl': plain(2000)})
    const {text, rows} = await mix()
    assert.ok(rows.length > 880 && rows.length < 1120, String(rows.length))
    assert.equal((await mix({force: true})).text, text)
    const half = rows.findIndex(({prompt}, i) => i > 0 && Number(prompt.slice(1)) < Number(rows[i - 1].prompt.slice(1)))
    assert.notDeepEqual(rows.slice(0, 50), rows.slice(half, half + 50))
  })
})

describe('a mix that was already made', () => {
  it('is skipped until the mix, a source or the output changes', async (test) => {
    const {folder, mix} = await corpus(test, only('a.jsonl'), {'a.jsonl': plain(1)})
    const states: string[] = []
    const add = async (changes?: Changes) => states.push((await mix(changes)).result.state)
    await add()
    const {mtimeMs} = await stat(join(folder, 'out/train.jsonl'))
    await add()
    assert.equal((await stat(join(folder, 'out/train.jsonl'))).mtimeMs, mtimeMs)
    await add({force: true})
    await appendFile(join(folder, 'mix.yaml'), '# a comment\n')
    await add()
    await appendFile(join(folder, 'mix.yaml'), 'exclude_lanes: [x]\n')
    await add()
    await appendFile(join(folder, 'a.jsonl'), plain(1))
    await add()
    assert.deepEqual(states, ['mixed', 'unchanged', 'mixed', 'unchanged', 'mixed', 'mixed'])
    assert.equal((await mix()).result.output_lines, 2)
  })

  it('is replaced only if no one else has changed it', async (test) => {
    const {folder, mix} = await corpus(test, only('a.jsonl'), {'a.jsonl': plain(1)})
    await mix()
    const output = join(folder, 'out/train.jsonl')
    await appendFile(output, 'my own row\n')
    await assert.rejects(mix({force: true}), {code: 'output_exists'})
    assert.match(await readFile(output, 'utf8'), /my own row/)
    assert.doesNotMatch((await mix({overwrite: true})).text, /my own row/)
    assert.equal((await mix()).result.state, 'unchanged')
  })
})

describe('the output of a mix', () => {
  it('never replaces a file that the mix did not write', async (test) => {
    const {folder, mix} = await corpus(test, only('a.jsonl'), {
      'a.jsonl': plain(1),
      'out/train.jsonl': 'mine',
      'new.mix_report.json': '{}',
    })
    await assert.rejects(mix(), {code: 'output_exists'})
    await assert.rejects(mix({output: join(folder, 'new.jsonl')}), {code: 'output_exists'})
    assert.deepEqual(await readFile(join(folder, 'out/train.jsonl'), 'utf8'), 'mine')
    assert.equal((await mix({overwrite: true})).rows.length, 1)
  })

  it('is never an input, a directory or a device', async (test) => {
    const {folder, mix} = await corpus(test, only('a.jsonl'), {'a.jsonl': plain(1)})
    await symlink(join(folder, 'a.jsonl'), join(folder, 'link.jsonl'))
    for (const name of ['a.jsonl', 'link.jsonl', 'mix.yaml'])
      await assert.rejects(mix({output: join(folder, name), overwrite: true}), {code: 'output_is_input'})
    for (const output of [folder, '/dev/null'])
      await assert.rejects(mix({output, overwrite: true}), {code: 'file_unwritable'})
  })

  it('is not written if the mix is interrupted', async (test) => {
    const {folder, mix} = await corpus(test, only('a.jsonl', ', weight: 50'), {'a.jsonl': plain(2000)})
    const controller = new AbortController()
    const reason = new SvcError('interrupted', {})
    const onProgress = () => controller.abort(reason)
    await assert.rejects(mix({signal: controller.signal, onProgress}), {code: 'interrupted'})
    assert.deepEqual(await readdir(join(folder, 'out')), [])
  })

  it('keeps its rows if a strict mix fails', async (test) => {
    const {folder, mix} = await corpus(test, only('a.jsonl'), {'a.jsonl': plain(1)})
    const {text} = await mix({strict: true})
    await writeFile(join(folder, 'a.jsonl'), lines({lane: 'other'}))
    await assert.rejects(mix({strict: true}), {
      code: 'corpus_mix_incomplete',
      message: 'The mix is incomplete: a.jsonl has no rows to write.',
    })
    assert.equal(await readFile(join(folder, 'out/train.jsonl'), 'utf8'), text)
  })
})

describe('a strict mix', () => {
  for (const [what, source, files, message] of [
    ['a missing source', 'a.jsonl', {}, 'The mix is incomplete: a.jsonl is missing.'],
    ['an empty source', 'a.jsonl', {'a.jsonl': '\n'}, 'The mix is incomplete: a.jsonl is empty.'],
    [
      'a source without valid rows',
      'a.jsonl',
      {'a.jsonl': '{'},
      'The mix is incomplete: a.jsonl has no rows to write.',
    ],
    ['an empty output', 'a.jsonl, optional: true', {}, 'The mix is incomplete: the output is empty.'],
  ] as const)
    it(`fails with ${what}, also after a run that was not strict`, async (test) => {
      const {folder, mix} = await corpus(test, only(source), files)
      await assert.rejects(mix({strict: true}), {code: 'corpus_mix_incomplete', message})
      assert.ok(!(await readdir(join(folder, 'out'))).some((name) => name.startsWith('train')))
      assert.equal((await mix()).rows.length, 0)
      await assert.rejects(mix({strict: true}), {code: 'corpus_mix_incomplete', message})
    })
})

describe('a mix file', () => {
  const rejected = async (test: TestContext, mixFile: string) => {
    const {mix} = await corpus(test, mixFile, {'a.jsonl': plain(1)})
    return mix().then(
      () => assert.fail('the mix was accepted'),
      (error) => error as SvcError,
    )
  }

  for (const [what, mixFile, message] of [
    ['no sources', 'sources: []\noutput: a\n', /\/sources must NOT have fewer than 1 items/],
    ['no output', 'sources: [{path: a.jsonl}]\n', /must have required property 'output'/],
    [
      'an unknown member',
      only('a.jsonl', ', wieght: 2'),
      /\/sources\/0 has an unknown member "wieght" \(did you mean "weight"\?\)/,
    ],
    [
      'an unknown format',
      only('a.jsonl', ', record_format: asr'),
      /\/sources\/0\/record_format must be one of \["asr_refine"/,
    ],
    ['a rate above 1', only('a.jsonl', ', sample_rate: 2'), /\/sources\/0\/sample_rate must be <= 1/],
    ['a weight that would write too much', only('a.jsonl', ', weight: 1e9'), /\/sources\/0\/weight must be <= 10000/],
    ['no lanes', `${only('a.jsonl')}include_lanes: []\n`, /\/include_lanes must NOT have fewer/],
  ] as const)
    it(`with ${what} is rejected with the place of the fault`, async (test) => {
      const error = await rejected(test, mixFile)
      assert.equal(error.code, 'contract_violation')
      assert.match(error.message, message)
    })

  it('with a syntax error is rejected with its line', async (test) => {
    const {code, message} = await rejected(test, 'sources: [\noutput: x')
    assert.deepEqual([code, /line 2/.test(message)], ['document_unparsable', true])
  })

  it('with a directory as source is rejected', async (test) => {
    assert.equal((await rejected(test, only('.'))).code, 'file_unreadable')
  })
})
