import assert from 'node:assert/strict'
import {mkdir, readdir, readFile, watch, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {assertHearsEveryWord, chunkings} from '../support/long-recording.js'
import {microClips, microData, writeMicroWhisper} from '../support/micro-whisper.js'
import {skipWithout} from '../support/project.js'
import {joined, readClip} from '../support/sounds.js'
import {startSvc, svc} from '../support/svc.js'
import {suiteFolder} from '../support/temporary.js'
import {monoWave} from '../support/wave-file.js'

describe('svc transcribe with a trained model', {skip: skipWithout(microData)}, () => {
  const folder = suiteFolder()
  const model = join(folder, 'micro')
  before(() => writeMicroWhisper(model))

  for (const args of chunkings)
    it(`neither loses nor repeats a word of five minutes ${args.join(' ')}`, () =>
      assertHearsEveryWord(join(folder, 'long.wav'), 300, [...args, '--model', model]))

  it('resumes after it was killed, with the output of an uninterrupted run', async () => {
    const clips = await Promise.all((await microClips()).map(({path}) => readClip(path)))
    const recording = join(folder, 'talk.wav')
    await writeFile(recording, monoWave(joined(Array.from({length: 40}, () => clips).flat())))
    const formats = ['talk.srt', 'talk.vtt']
    const args = (name: string) => [
      ...['transcribe', recording, '--model', model, '--format', 'srt,vtt'],
      ...['--output', join(folder, name)],
    ]
    await svc(args('whole'))
    const output = join(folder, 'killed')
    await mkdir(output)
    const changes = watch(output)
    const killed = startSvc(args('killed'))
    for await (const {filename} of changes)
      if (filename === 'talk.srt.progress' && (await linesOf(join(output, filename))) > 3) break
    killed.kill('SIGKILL')
    await killed
    assert.deepEqual(await readdir(output), ['talk.srt.progress'])
    const {exitCode, stderr} = await svc([...args('killed'), '--resume'])
    assert.equal(exitCode, 0, stderr)
    assert.deepEqual((await readdir(output)).sort(), formats)
    for (const name of formats)
      assert.equal(await readFile(join(output, name), 'utf8'), await readFile(join(folder, 'whole', name), 'utf8'))
  })
})

const linesOf = async (path: string) => (await readFile(path, 'utf8')).split('\n').length - 1
