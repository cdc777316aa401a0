import {join} from 'node:path'
import {describe} from 'node:test'
import {testCases, testSteps} from './compare-in-turn.js'

describe('many command lines in a reused process', () => {
  testCases((root, other) => [
    [['mcp', 'serve'], {cwd: root}],
    [['--version']],
    [[]],
    [['orch', 'submit', '--help']],
    [['genrate']],
    [['config', 'shwo', '--json']],
    [['config', 'check'], {env: {SVC_THREADS: 'many'}}],
    [['config', 'show', '--json'], {cwd: root}],
    [['config', 'show', '--json'], {cwd: other}],
    [['config', 'show', '--json'], {cwd: other, env: {SVC_LOG: 'debug', SVC_THREADS: '3'}}],
    [['config', 'show'], {cwd: join(root, 'broken')}],
    [['config', 'show', '-C', 'other', '--json'], {cwd: root}],
    [['config', 'show', '-C', 'nowhere'], {cwd: root}],
    [['contracts', 'list', '--json']],
    [['contracts', 'validate', 'cli/error.v1', '-'], {input: '{"error": {}}'}],
    [['contracts', 'validate', 'cli/error.v1', 'error.json'], {cwd: root}],
    [['generate', '-m', './nowhere', '-', '--json'], {input: Uint8Array.of(0x61, 0xff)}],
    [['db', 'check', '-'], {input: 'table\n'}],
    [['orch', 'submit', '-'], {cwd: root, input: 'x'.repeat(200_000)}],
    [['orch', 'task', '7'], {cwd: root}],
    [['a2a', 'send', '--json'], {cwd: root}],
  ])

  testSteps([
    [['submit', 'one', '--processor', 'external', '--json']],
    [['submit', '--batch', '-', '--json'], '{"description": "two", "processor": "external", "depends_on": [1]}\n'],
    [['agent', 'spawn', 'builder']],
    [['claim', '--as', 'me', '--json']],
    [['complete', '1', '--claim', '1', '--summary', '-'], 'done\n'],
    [['claim', '--as', 'me']],
    [['complete', '2', '--claim', '7', '--json']],
    [['cancel', '2']],
    [['retry', '1']],
    [['task', '2']],
    [['status']],
    [['events', '--json']],
  ])
})
