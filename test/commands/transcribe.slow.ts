import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {assertHearsEveryWord, chunkings} from '../support/long-recording.js'
import {microData, writeMicroWhisper} from '../support/micro-whisper.js'
import {skipWithout} from '../support/project.js'
import {suiteFolder} from '../support/temporary.js'

describe('svc transcribe with a trained model', {skip: skipWithout(microData)}, () => {
  const folder = suiteFolder()
  const model = join(folder, 'micro')
  before(() => writeMicroWhisper(model))

  for (const args of chunkings)
    it(`neither loses nor repeats a word of five minutes ${args.join(' ')}`, () =>
      assertHearsEveryWord(join(folder, 'long.wav'), 300, [...args, '--model', model]))
})
