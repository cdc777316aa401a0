import {join} from 'node:path'
import {before, describe} from 'node:test'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {testLoadedPackages} from './loaded-packages.js'

describe('the packages that a command loads', () => {
  const folder = suiteFolder()
  const textFile = join(folder, 'said.txt')
  before(() => writeFiles(folder, {'said.txt': 'hello'}))

  testLoadedPackages(folder, [
    [['generate', '--help'], []],
    [['config', 'show'], []],
    [['transcribe', '--help'], []],
    [['transcribe', textFile], []],
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
