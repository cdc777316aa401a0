import assert from 'node:assert/strict'
import {readdirSync} from 'node:fs'
import {readFile, stat} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {argumentFault, argumentsOf, wordsOf} from '../../src/help/command-line.js'
import {commandsIn, withoutUnknownCommands} from '../../src/help/commands-in.js'
import {excerptFor} from '../../src/help/excerpt.js'
import {openHelp} from '../../src/help/index.js'
import {keyOf, readIndex} from '../../src/help/index-file.js'
import {readCommands} from '../../src/help/manifest.js'
import {sectionsOf} from '../../src/help/markdown.js'
import {Library} from '../../src/help/passages.js'
import {projectFile} from '../support/project.js'
import {fresh, heldOut, judge, questions, share} from './evaluate.js'

/** The commands of svc in blocks of the shell. A line that ends with a backslash continues. */
const consoleCommands = (text: string) =>
  [...text.matchAll(/^```(?:console|sh|text)[^\n]*\n(.*?)^```/gms)].flatMap(([, code = '']) =>
    [...code.replaceAll(/ \\\n(?:> )? */g, ' ').matchAll(/^\$ (?:[A-Z_]+=\S* )*(svc .*)$/gm)].map(
      ([, line = '']) => line,
    ),
  )

const commands = await readCommands()
const help = await openHelp()

type Asked = Parameters<typeof judge>[1]
const judgements = new Map<Asked, ReturnType<typeof judge>>()

/** Judges the answers to questions, each once: several tests need them. */
const judgeAll = (asked: readonly Asked[]) =>
  Promise.all(
    asked.map((one) => {
      const judged = judgements.get(one) ?? judge(help, one)
      judgements.set(one, judged)
      return judged
    }),
  )

describe('the sections of a page', () => {
  it('have the titles above them, and not the comments of code', () => {
    const page =
      '# Page\n\nIntroduction.\n\n## Part\n\n```sh\n# comment\n```\n\n### Detail\n\nMore.\n\n## Other\n\nLast.\n'
    assert.deepEqual(sectionsOf(page), [
      {headings: ['Page'], text: 'Introduction.'},
      {headings: ['Page', 'Part'], text: '```sh\n# comment\n```'},
      {headings: ['Page', 'Part', 'Detail'], text: 'More.'},
      {headings: ['Page', 'Other'], text: 'Last.'},
    ])
  })

  it('are one for each setting', () => {
    const page =
      '# Settings\n\n## Log\n\n- `log.filter`, `SVC_LOG`\n\n  Levels.\n\n- `log.format`\n\n  Text or JSON.\n\n## Net\n\nAll.\n'
    assert.deepEqual(sectionsOf(page), [
      {headings: ['Settings', 'Log', '`log.filter`, `SVC_LOG`'], text: 'Levels.'},
      {headings: ['Settings', 'Log', '`log.format`'], text: 'Text or JSON.'},
      {headings: ['Settings', 'Net'], text: 'All.'},
    ])
  })
})

describe('the arguments of a command', () => {
  const cases: readonly [line: string, fault: string | undefined][] = [
    ['svc transcribe a.wav', undefined],
    ['svc orch tasks --json', undefined],
    ['svc transcribe a.wav --format srt > a.srt', undefined],
    ['git diff | svc orch submit - --category review', undefined],
    ['SVC_LOG=debug svc daemon run', undefined],
    ['svc --help', undefined],
    ['svc orch --help', undefined],
    ['svc -C DIR orch tasks', undefined],
    ['svc -h', 'svc -h is not a command'],
    ['svc transcrib a.wav', 'svc transcrib a.wav is not a command'],
    ['svc transcribe a.wav --speaker', '--speaker is not a flag'],
    ['svc orch approve', 'id is missing'],
    ['svc nothing --help', 'svc nothing is not a command'],
  ]
  for (const [line, fault] of cases)
    it(`of ${line} ${fault === undefined ? 'can be parsed' : `cannot: ${fault}`}`, () =>
      assert.equal(argumentFault(commands, argumentsOf(line) ?? []), fault))

  it('are read as a shell reads them', () =>
    assert.deepEqual(wordsOf(`a 'b c' "d e" f\\ g`), ['a', 'b c', 'd e', 'f g']))
})

describe('the commands in a text', () => {
  it('are those of code that can be parsed', () => {
    const text =
      'Run `svc orch tasks`, `svc orch tasks`, or `svc orch jobs`.\n\n```console\n$ svc transcribe a.wav | wc\n$ ls\n```\n'
    assert.deepEqual(commandsIn(commands, text), ['svc transcribe a.wav | wc', 'svc orch tasks'])
  })

  it('may continue on the next line', () => {
    const text = '```console\n$ svc merge runs/a \\\n>   --output merged\n```\n'
    assert.deepEqual(commandsIn(commands, text), ['svc merge runs/a --output merged'])
  })

  it('are removed if they do not exist', () => {
    const text = 'Run `svc orch tasks --all`, `svc transcribe a.wav`, or svc enqueue.\n```\nsvc run --now\n```\n'
    assert.deepEqual(withoutUnknownCommands(commands, text), {
      text: 'Run [removed], `svc transcribe a.wav`, or [removed].\n```\n[removed]\n```\n',
      removed: ['svc orch tasks --all', 'svc enqueue', 'svc run --now'],
    })
  })
})

describe('an excerpt', () => {
  it('is the whole of a short text', () =>
    assert.equal(excerptFor(new Map([['b', 1]]), 'a\n\nb\n\n- c\n- d', 16), 'a\n\nb\n\n- c\n- d'))

  it('of a long text has the blocks with the words of the question, and the code after them', () => {
    const filler = Array.from({length: 12}, (_, i) => `Filler ${i}.\n${'x\n'.repeat(3)}x`).join('\n\n')
    const text = `Start.\n\n${filler}\n\nDelete old recordings:\n\n\`\`\`\n$ rm\n\n$ ls\n\`\`\`\n\n${filler}`
    const excerpt = excerptFor(
      new Map([
        ['record', 2],
        ['delet', 1],
      ]),
      text,
      16,
    )
    assert.match(excerpt, /^Start\.\n\n/)
    assert.match(excerpt, /Delete old recordings:\n\n```\n\$ rm\n\n\$ ls\n```/)
    assert.ok(excerpt.split('\n').length < 40, excerpt)
  })

  it('of a long table has its head and the rows with the words of the question', () => {
    const rows = Array.from({length: 12}, (_, i) => `| flag${i} | Effect ${i} |`)
    const text = ['| Flag | Effect |', '| --- | --- |', ...rows].join('\n')
    assert.equal(excerptFor(new Map([['flag7', 5]]), text, 1), '| Flag | Effect |\n| --- | --- |\n| flag7 | Effect 7 |')
  })
})

describe('the index of the help', () => {
  it('has every guide, command and error, where they are', async () => {
    const library = new Library(commands)
    const [{places}, passages] = await Promise.all([readIndex(), library.all()])
    assert.deepEqual(await Promise.all(places.map((place) => library.passageAt(place))), passages)
    const pages = new Set(places.map(({page}) => page))
    const left = new Set(['README.md', 'architecture.md', 'benchmarks.md'])
    for (const name of readdirSync(projectFile('docs')))
      if (name.endsWith('.md')) assert.equal(pages.has(`docs/${name}`), !left.has(name), name)
  })
})

describe('the size of the index', () => {
  it('is at most 1 MB', async () => assert.ok((await stat(projectFile('dist/bundle/help.json'))).size <= 1_000_000))
})

describe('the other words for passages', () => {
  it('are for passages that exist', async () => {
    const asked = Object.keys(JSON.parse(await readFile(projectFile('src/help/also-asked.json'), 'utf8')))
    const {places} = await readIndex()
    const known = new Set(places.map(keyOf))
    assert.deepEqual(
      asked.filter((key) => !known.has(key)),
      [],
      'rename the keys of src/help/also-asked.json as the headings are renamed',
    )
  })
})

describe('answers', () => {
  it('are found for misspelled words', async () => {
    const [first] = await help.passagesFor('how to downlaod a modle')
    assert.match(first?.page ?? '', /^(svc pull --help|docs\/models\.md)$/)
  })

  it('are found for a misspelled word that the documentation has as an example', async () => {
    const passages = await help.passagesFor('lsit my taks')
    assert.ok(
      passages.some(({page}) => page === 'svc orch tasks --help'),
      passages.map(({page}) => page).join(),
    )
  })

  it('to a question that names a code explain it', async () => {
    const [first] = await help.passagesFor('I get daemon_silent, what now?')
    assert.equal(first?.page, 'svc explain daemon_silent')
  })

  it('have commands that exist', async () => {
    const [first] = await help.passagesFor('delete a model')
    assert.ok(first?.commands.includes('svc rm Qwen/Qwen2.5-0.5B-Instruct'), String(first?.commands))
  })

  // Somewhat less than what docs/benchmarks.md says, because every change of a text changes some answers.
  const sets = [
    {
      name: 'the search is tuned with',
      asked: questions,
      wanted: {page: 0.96, right: 0.82, wrong: 0.02, refused: 0.925},
    },
    {name: 'were held out', asked: heldOut, wanted: {page: 0.93, right: 0.82, wrong: 0.03, refused: 0.93}},
    {name: 'are fresh', asked: fresh, wanted: {page: 0.88, right: 0.72, wrong: 0.03, refused: 0.8}},
  ]
  for (const {name, asked, wanted} of sets)
    it(`are right for as many of the questions that ${name} as the documentation says`, async () => {
      const judged = await judgeAll(asked)
      const foreign = judged.filter(({from}) => from === 'foreign')
      const own = judged.filter(({from}) => from !== 'foreign')
      const figures = {
        page: share(own, ({isPageFound}) => isPageFound),
        right: share(own, ({isRight}) => isRight),
        wrong: share(own, ({isWrong}) => isWrong),
        refused: share(foreign, ({isRight}) => isRight),
      }
      const missed = own.filter(({isPageFound}) => !isPageFound).map(({question}) => question)
      assert.ok(figures.page >= wanted.page, `${JSON.stringify(figures)}\n${missed.join('\n')}`)
      assert.ok(figures.right >= wanted.right, JSON.stringify(figures))
      assert.ok(figures.wrong <= wanted.wrong, JSON.stringify(figures))
      assert.ok(figures.refused >= wanted.refused, JSON.stringify(figures))
    })

  it('have commands that can be parsed, and so have the questions', async () => {
    const all = [...questions, ...heldOut, ...fresh]
    for (const {question, command} of all)
      if (command !== null) assert.equal(argumentFault(commands, argumentsOf(command) ?? []), undefined, question)
    const judged = await judgeAll(all)
    const lines = judged.flatMap(({passages}) => passages.flatMap(({text}) => consoleCommands(text)))
    assert.ok(lines.length > 300, String(lines.length))
    const faults = lines.map((line) => [line, argumentFault(commands, argumentsOf(line) ?? [])])
    assert.deepEqual(
      faults.filter(([, fault]) => fault !== undefined),
      [],
    )
  })

  it('add other parts of the page if they fit nearly as well', async () => {
    const [first] = await help.passagesFor('skip the beginning, only a section of a recording, and make subtitles')
    assert.match(first?.text ?? '', /\n\n## /)
  })
})

describe('what people ask', () => {
  it('repeats no four words of a held-out or fresh question', async () => {
    const asked: Record<string, string[]> = JSON.parse(await readFile(projectFile('src/help/also-asked.json'), 'utf8'))
    const fours = (text: string) => {
      const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
      return words.slice(3).map((_, at) => words.slice(at, at + 4).join(' '))
    }
    const held = new Set([...heldOut, ...fresh].flatMap(({question}) => fours(question)))
    const repeated = Object.values(asked)
      .flat()
      .filter((phrase) => fours(phrase).some((four) => held.has(four)))
    assert.deepEqual(repeated, [])
  })
})
