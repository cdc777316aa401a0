import {copyFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {before, describe} from 'node:test'
import {projectFile} from '../support/project.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {testLoadedPackages} from './loaded-packages.js'

describe('the packages that a command loads', () => {
  const folder = suiteFolder()
  const textFile = join(folder, 'said.txt')
  const recording = join(folder, 'hello.wav')
  before(async () => {
    await writeFiles(folder, {'said.txt': 'hello'})
    await copyFile(projectFile('examples/hello.wav'), recording)
  })

  testLoadedPackages(folder, [
    [['generate', '--help'], []],
    [['config', 'show'], []],
    [['transcribe', '--help'], []],
    [['transcribe', textFile], []],
    [['transcribe', basename(recording), '--model', 'starter'], ['onnxruntime-node']],
    [['speech', 'status'], []],
    [['explain', 'typecheck.null'], []],
    [['contracts', 'list'], ['yaml']],
    [['bench', 'run'], []],
    [['bench', 'syntax-k', textFile], []],
    [['orch', 'fail', '--help'], []],
    [['__complete', 'transcribe', '--form'], []],
    [['__complete', 'explain', 'store_'], []],
    [['__complete', 'orch', 'task', ''], []],
    [['orch', 'tasks'], ['better-sqlite3']],
  ])
})
