import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {promisify} from 'node:util'
import {projectFile} from '../support/project.js'
import {randomFloats} from '../support/random-floats.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {monoWave} from '../support/wave-file.js'
import {writeWhisperFolder} from '../support/whisper-files.js'
import {microShape, randomWhisper} from '../support/whisper-weights.js'

const folder = suiteFolder()

/** A program that transcribes with the library, and prints the native libraries that its process then holds. */
const program = `
import {readFileSync} from 'node:fs'
import {defaultTranscribeOptions} from '${projectFile('dist/src/speech/index.js')}'
import {openSpeechModel} from '${projectFile('dist/src/speech/engine/open-model.js')}'
import {energyVad, openAudio} from '${projectFile('dist/src/audio/index.js')}'
const options = {name: 'm', threads: 1, device: 'cpu', precision: 'f32', derivedFolder: '${folder}/derived'}
const model = await openSpeechModel('${folder}/model', options)
const samples = []
for (const file of process.argv.slice(2))
  for await (const piece of await openAudio({path: file}, {sampleRate: 16000})) samples.push(...piece)
await energyVad().push(Float32Array.from(samples))
await model.recognise(Float32Array.from(samples.slice(0, 24000)), defaultTranscribeOptions)
const maps = readFileSync('/proc/self/maps', 'utf8')
console.log(JSON.stringify([...new Set(maps.match(/\\/\\S*node_modules\\/\\S+/g) ?? [])]))
`

describe('recognising speech', {skip: process.platform !== 'linux' && 'needs /proc'}, () => {
  before(async () => {
    await writeWhisperFolder(join(folder, 'model'), microShape, randomWhisper(microShape, 3))
    await writeFiles(folder, {'run.mjs': program, 'noise.wav': monoWave(randomFloats(7)(24_000).map((x) => 0.1 * x))})
  })

  it('loads no native code other than ONNX Runtime', async () => {
    const files = ['tone-opus.ogg', 'tone-vorbis.ogg', 'tone-ima.wav'].map((name) =>
      projectFile(`test/fixtures/audio/${name}`),
    )
    const {stdout} = await promisify(execFile)(process.execPath, [
      join(folder, 'run.mjs'),
      join(folder, 'noise.wav'),
      ...files,
    ])
    const libraries = (JSON.parse(stdout) as string[]).filter((path) => path !== process.execPath)
    const native = libraries.map((path) => path.replace(/^.*\/node_modules\//, ''))
    assert.ok(native.length > 0)
    for (const path of native) assert.match(path, /^onnxruntime-node\//)
  })
})
