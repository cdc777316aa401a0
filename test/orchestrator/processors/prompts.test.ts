import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {cut, phasePrompt} from '../../../src/orchestrator/processors/prompts.js'
import {taskPhases} from '../../../src/orchestrator/vocabulary.js'
import {aTask} from './a-task.js'

const said = (message: string, at: number) => ({agent_id: 3, agent_name: 'builder', message, timestamp_ms: at})

describe('what the model reads', () => {
  it('is the task and the step in every phase, and each step asks for something else', () => {
    const prompts = taskPhases.map((phase) => phasePrompt(phase, aTask(), {}))
    for (const prompt of prompts) assert.match(prompt, /T-0042 \(general\):\nName a prime number\./)
    assert.equal(new Set(prompts).size, taskPhases.length)
  })

  it('names the files and how they are used', () => {
    const task = aTask({
      file_manifest: [
        {path: 'src/a.ts', access: 'read'},
        {path: 'src/b.ts', access: 'write'},
      ],
    })
    assert.match(phasePrompt('act', task, {}), /\n- read src\/a\.ts\n- write src\/b\.ts\n/)
  })

  it('counts the files that are too many to be named', () => {
    const files = Array.from({length: 130}, (_, i) => ({path: `f${i}.ts`, access: 'read' as const}))
    const prompt = phasePrompt('act', aTask({file_manifest: files}), {})
    assert.match(prompt, /- read f99\.ts\n- and 30 more\n/)
  })

  it('holds the last three entries of the transcript, each cut to its room', () => {
    const transcript = ['one', 'two', 'three', `four${'x'.repeat(5000)}`].map(said)
    const prompt = phasePrompt('act', aTask({transcript}), {})
    assert.doesNotMatch(prompt, /one/)
    assert.match(prompt, /- builder: two\n- builder: three\n- builder: fourx{996} \[\.\.\.\]\n/)
  })

  it('holds the answers of earlier phases in their order', () => {
    const prompt = phasePrompt('verify', aTask(), {act: 'Seven.', inspect: 'A prime.', hypothesize: ''})
    assert.match(prompt, /inspect:\nA prime\.\n\n.*act:\nSeven\.\n\n/)
    assert.doesNotMatch(prompt, /hypothesize/)
  })

  it('keeps all answers together within the budget, and short ones whole', () => {
    const budget = {answers: 1000, transcriptEntry: 10, files: 10}
    const answers = {inspect: 'i'.repeat(100), localize: 'l'.repeat(9000), act: 'a'.repeat(9000)}
    const prompt = phasePrompt('decide', aTask(), answers, budget)
    const longest = (letter: string) =>
      Math.max(...[...prompt.matchAll(new RegExp(`${letter}{3,}`, 'g'))].map(([run]) => run.length))
    assert.deepEqual([longest('i'), longest('l'), longest('a')], [100, 450, 450])
  })

  it('never ends a text with half a character', () => {
    assert.equal(cut('ab𝄞cd', 3), 'ab [...]')
    assert.equal(cut('ab𝄞cd', 4), 'ab𝄞 [...]')
    assert.equal(cut('ab𝄞', 4), 'ab𝄞')
  })
})
