import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it, type TestContext} from 'node:test'
import {stripVTControlCharacters} from 'node:util'
import type {ConversationV1} from '../../src/contracts/index.js'
import {skipWithoutProgram} from '../support/programs.js'
import {projectFile} from '../support/project.js'
import {svcBinary} from '../support/svc.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {startTerminal, svcOnTerminal, type Terminal} from '../support/terminal.js'
import {tinyModelFiles} from '../support/tiny-model.js'
import {until} from '../support/until.js'

const guide = projectFile('examples/runs/guide')
const answer =
  'svc runs AI on your own machine: speech to text, language models and more, as small commands for the shell.'

const folder = suiteFolder()
before(async () => {
  const files = tinyModelFiles({contextLength: 8192})
  await writeFiles(folder, Object.fromEntries(Object.entries(files).map(([name, text]) => [`tiny/${name}`, text])))
  const template = `{% for m in messages %}{{ m.role[0] }}:{{ m.content }}
{% endfor %}{% if add_generation_prompt %}a:{% endif %}`
  await writeFiles(folder, {'tiny/chat_template.jinja': template})
})

describe('svc run on a terminal', {skip: skipWithoutProgram('script')}, () => {
  const home = suiteFolder()
  const start = (t: TestContext, ...args: string[]) =>
    svcOnTerminal(t, ['run', ...args, '--threads', '1'], {cwd: folder, env: {HOME: home}, columns: 120})
  /** What is on the screen since something was typed, without the control characters of the line editor. */
  const screen = (terminal: Terminal) => stripVTControlCharacters(terminal.shown()).replaceAll('\r', '')
  const shows = (terminal: Terminal, ...expected: (string | RegExp)[]) =>
    until(
      () =>
        expected.every((each) =>
          typeof each === 'string' ? screen(terminal).includes(each) : each.test(screen(terminal)),
        ),
      () => `${expected.join(', ')}: ${screen(terminal)}`,
    )
  /** Types a line, and waits until texts and then the prompt are shown. */
  const enter = async (terminal: Terminal, text: string, ...expected: (string | RegExp)[]) => {
    terminal.type(`${text}\r`)
    await shows(terminal, ...expected, />>> $/)
  }
  const open = async (t: TestContext, ...args: string[]) => {
    const terminal = start(t, ...args)
    await shows(terminal, />>> $/)
    return terminal
  }
  const saved = async (name: string) =>
    JSON.parse(await readFile(join(home, '.local/share/svc/conversations', `${name}.json`), 'utf8')) as ConversationV1
  const bye = async (terminal: Terminal, keys = '/bye\r') => {
    terminal.type(keys)
    const {exitCode, output} = await terminal.ended
    assert.equal(exitCode, 0, output)
  }

  it('keeps the conversation, its settings and the lines that were typed', async (t) => {
    const terminal = await open(t, guide, '--temperature', '0', '--stats')
    await enter(terminal, 'What is svc?', 'memory')
    assert.ok(screen(terminal).includes(`\n${answer}\n`), screen(terminal))
    for (const line of ['"""', 'How do I get']) {
      terminal.type(`${line}\r`)
      await shows(terminal, /\.\.\. $/)
    }
    await enter(terminal, 'subtitles?"""', 'memory')
    const [, prompted, cached] = /(\d+) tokens \((\d+) cached\)/.exec(screen(terminal)) ?? []
    // The first question and its reply are not computed again.
    assert.ok(Number(cached) >= 40 && Number(prompted) - Number(cached) < 30, screen(terminal))
    await enter(terminal, '/set system Be brief.', 'System message set.')
    await enter(terminal, '/set parameter top_p 0.5', 'top_p set to 0.5.')
    await enter(terminal, '/set parameter top_p 3', 'Cannot set top_p to 3: top_p must be <= 1.')
    await enter(terminal, '/set paramter top_p 1', 'Unknown command /set paramter. Did you mean /set parameter?')
    await enter(terminal, '/set format {"enum": ["yes", "no"]}', 'valid for the schema.')
    await enter(terminal, '/shwo', 'Did you mean /show?')
    await enter(terminal, '/save trip', 'trip.json')
    await enter(terminal, 'Is it?', /^"(yes|no)"$/m)
    await enter(terminal, '/load trop', 'There is no conversation trop', 'Did you mean trip?')
    await enter(terminal, '/load trip', 'Loaded trip, 5 messages.')
    await enter(terminal, '/show', /^messages +5$/m, /^system +Be brief\.$/m, /^top_p +0\.5$/m)
    await enter(terminal, '/clear', 'Messages cleared.')
    await enter(terminal, '/show', /^messages +1$/m)
    await bye(terminal)
    const {model, messages, parameters, format} = await saved('trip')
    assert.deepEqual([model, parameters, format], [guide, {temperature: 0, top_p: 0.5}, {enum: ['yes', 'no']}])
    assert.deepEqual(
      messages.map(({role}) => role),
      ['system', 'user', 'assistant', 'user', 'assistant'],
    )
    assert.deepEqual([messages[0]?.content, messages[3]?.content], ['Be brief.', 'How do I get\nsubtitles?'])
    const files = [join(home, '.local/share/svc/conversations/trip.json'), join(home, '.local/state/svc/chat-history')]
    for (const file of files) assert.equal((await stat(file)).mode & 0o777, 0o600, file)
    const next = await open(t, guide)
    next.type('\u001b[A'.repeat(5))
    await shows(next, /\/load trip$/)
    await bye(next, '\u0003\u0004')
  })

  it('stops a reply on Ctrl-C, and leaves on Ctrl-C if the line is empty', async (t) => {
    const terminal = await open(t, 'tiny', '--seed', '1', '--no-history')
    terminal.type('Go on\r')
    await until(
      () => screen(terminal).length > 30,
      () => screen(terminal),
    )
    // What is typed during a reply is kept for the next line.
    terminal.type('/save partial\u0003')
    await shows(terminal, />>> \/save partial$/)
    await enter(terminal, '', 'partial.json')
    const {messages} = await saved('partial')
    assert.deepEqual(
      messages.map(({role}) => role),
      ['user', 'assistant'],
    )
    assert.notEqual(messages[1]?.content, '')
    // Lines that are pasted are one message.
    terminal.type('\u001b[200~/set system a\rb\u001b[201~')
    await shows(terminal, /b$/)
    await enter(terminal, '', 'System message set.')
    await enter(terminal, '/save pasted', 'pasted.json')
    assert.equal((await saved('pasted')).messages[0]?.content, 'a\nb')
    terminal.type('half a line\u0003')
    await shows(terminal, '^C', />>> $/)
    await bye(terminal, '\u0003')
    const history = join(home, '.local/state/svc/chat-history')
    assert.ok(!existsSync(history) || !(await readFile(history, 'utf8')).includes('partial'))
  })

  it('keeps an earlier conversation if it is killed while it saves', async (t) => {
    const command = `echo $$ > pid; exec ${process.execPath} ${svcBinary} run tiny --threads 1`
    const terminal = startTerminal(t, command, {cwd: folder, env: {HOME: home}})
    await shows(terminal, />>> $/)
    await enter(terminal, '/set system first', 'System message set.')
    await enter(terminal, '/save kept', 'kept.json')
    await enter(terminal, `/set system ${'x'.repeat(1000)}`, 'System message set.')
    terminal.type('/save kept\r')
    process.kill(Number(await readFile(join(folder, 'pid'), 'utf8')), 'SIGKILL')
    await terminal.ended
    assert.match((await saved('kept')).messages[0]?.content ?? '', /^(first|x{1000})$/)
  })
})
