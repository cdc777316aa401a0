import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {cut, phaseBudget, phasePrompt, systemPrompt} from '../../../src/scheduler/processors/prompts.js'
import {taskPhases} from '../../../src/workspace/vocabulary.js'
import {aTask} from './a-task.js'

/** Size of a prompt, bytes. */
const roomy = 24_000

const nothing = {answers: {}, memory: ''}

const said = (message: string, at: number) => ({agent_id: 3, agent_name: 'builder', message, timestamp_ms: at})

describe('the prompt of a phase', () => {
  it('contains the task and the instructions of the phase', () => {
    const prompts = taskPhases.map((phase) => phasePrompt(phase, aTask(), nothing, roomy))
    for (const prompt of prompts) assert.match(prompt, /T-0042 \(general\):\nName a prime number\./)
    assert.equal(new Set(prompts).size, taskPhases.length)
  })

  it('lists the files and their access', () => {
    const task = aTask({
      file_manifest: [
        {path: 'src/a.ts', access: 'read'},
        {path: 'src/b.ts', access: 'write'},
      ],
    })
    assert.match(phasePrompt('act', task, nothing, roomy), /\n- read src\/a\.ts\n- write src\/b\.ts\n/)
  })

  it('counts the files beyond the maximum', () => {
    const files = Array.from({length: 130}, (_, i) => ({path: `f${i}.ts`, access: 'read' as const}))
    const prompt = phasePrompt('act', aTask({file_manifest: files}), nothing, roomy)
    assert.match(prompt, /- read f99\.ts\n- and 30 more\n/)
  })

  it('contains the last three transcript entries, truncated', () => {
    const transcript = ['one', 'two', 'three', `four${'x'.repeat(5000)}`].map(said)
    const prompt = phasePrompt('act', aTask({transcript}), nothing, roomy)
    assert.doesNotMatch(prompt, /one/)
    assert.match(prompt, /- builder: two\n- builder: three\n- builder: fourx{950,1000} \[\.\.\.\]\n/)
  })

  it('contains what is known about the workspace, in an eighth of the prompt', () => {
    const known = phasePrompt('act', aTask(), {answers: {}, memory: 'Tests are in test/.'}, roomy)
    assert.match(known, /^Known about this workspace:\nTests are in test\/\.\n\nTask T-0042/)
    const long = phasePrompt('act', aTask(), {answers: {}, memory: 'm'.repeat(50_000)}, roomy)
    assert.ok((/m{3,}/.exec(long)?.[0].length ?? 0) < roomy / 8)
  })

  it('contains the earlier answers in order', () => {
    const prompt = phasePrompt(
      'verify',
      aTask(),
      {answers: {act: 'Seven.', inspect: 'A prime.', hypothesize: ''}, memory: ''},
      roomy,
    )
    assert.match(prompt, /inspect:\nA prime\.\n\n.*act:\nSeven\.\n\n/)
    assert.doesNotMatch(prompt, /hypothesize/)
  })

  it('fits the context, with short answers complete and long ones cut equally', () => {
    const answers = {inspect: 'i'.repeat(100), localize: 'l'.repeat(9000), act: 'a'.repeat(9000)}
    const prompt = phasePrompt('decide', aTask(), {answers, memory: ''}, 6000)
    const longest = (letter: string) =>
      Math.max(...[...prompt.matchAll(new RegExp(`${letter}{3,}`, 'g'))].map(([run]) => run.length))
    assert.deepEqual([longest('i'), longest('l') - longest('a')], [100, 0])
    const bytes = Buffer.byteLength(systemPrompt + prompt)
    assert.ok(bytes <= 6000 && bytes > 5600, `${bytes} bytes`)
  })

  for (const [contextLength, promptBytes, answerTokens] of [
    [2048, 2880, 1024],
    [4096, 5952, 2048],
    [32_768, 91_968, 2048],
  ] as const)
    it(`has ${promptBytes} bytes under a context of ${contextLength} tokens, and its answer ${answerTokens} tokens`, () => {
      assert.deepEqual(phaseBudget(contextLength, 2048), {promptBytes, answerTokens})
      const long = 'x'.repeat(500_000)
      const task = aTask({
        description: '漢'.repeat(500_000),
        transcript: [said(long, 1), said(long, 2), said(long, 3)],
        file_manifest: Array.from({length: 500}, (_, i) => ({path: `src/${'f'.repeat(60)}${i}.ts`, access: 'read'})),
      })
      const prompt = phasePrompt(
        'verify',
        task,
        {answers: {inspect: long, localize: long, act: long}, memory: long},
        promptBytes,
      )
      const bytes = Buffer.byteLength(systemPrompt + prompt)
      assert.ok(bytes <= promptBytes && bytes > promptBytes * 0.9, `${bytes} bytes`)
    })

  it('never cuts a character', () => {
    assert.equal(cut('ab𝄞cd', 3), 'ab [...]')
    assert.equal(cut('ab𝄞cd', 6), 'ab𝄞 [...]')
    assert.equal(cut('ab𝄞', 6), 'ab𝄞')
  })
})
