import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {randomSource} from '../../../src/sampling/index.js'
import type {AskModel, ModelMessage} from '../../../src/voice/polish/ask-model.js'
import {failureText} from '../../../src/voice/polish/failure-text.js'
import {type PolishOptions, polish} from '../../../src/voice/polish/polish.js'
import type {Unpolished} from '../../../src/voice/polish/request.js'
import {lostWord} from '../../../src/voice/polish/surface.js'

const options: PolishOptions = {
  enabled: true,
  minConfidence: 0.82,
  maxOutputTokens: 512,
  deadlineMs: 60_000,
  routeMode: 'none',
}

/** A transcript with a low confidence. */
const transcript = (refinedText: string): Unpolished => ({
  rawText: refinedText,
  refinedText,
  confidence: 0.7,
  trace: [],
})

/** Polishes a text with a model that gives this answer. */
const polishedBy = (answer: unknown, text = 'please creat a function', changes: Partial<PolishOptions> = {}) =>
  polish(
    transcript(text),
    {...options, ...changes},
    async () => async () => (typeof answer === 'string' ? answer : JSON.stringify(answer)),
    undefined,
  )

/** The report for an answer; the text and its confidence must be unchanged. */
async function rejection(answer: unknown, text?: string) {
  const {report, ...result} = await polishedBy(answer, text)
  assert.deepEqual(result, {text: text ?? 'please creat a function', confidence: 0.7})
  assert.equal(report.applied, false)
  return report
}

describe('a transcript', () => {
  const unused: AskModel = () => assert.fail('The model must not be asked.')
  const skipped = async (changes: Partial<PolishOptions>, text: Partial<Unpolished> = {}) =>
    (
      await polish(
        {...transcript('hello'), confidence: 0.87, ...text},
        {...options, ...changes},
        async () => unused,
        undefined,
      )
    ).report

  it('is polished only if that is enabled', async () => {
    assert.deepEqual(await skipped({enabled: false}, {confidence: 0.1}), {
      applied: false,
      skipped: true,
      reason: 'llm_refinement_disabled',
    })
  })

  it('is not polished if its confidence is sufficient', async () => {
    assert.deepEqual(await skipped({}), {
      applied: false,
      skipped: true,
      reason: 'deterministic_confidence_sufficient',
      deterministic_confidence: 0.87,
    })
  })

  it('is not polished if it is empty, so that silence stays empty', async () => {
    assert.deepEqual(await skipped({routeMode: 'tool'}, {refinedText: ' '}), {
      applied: false,
      skipped: true,
      reason: 'empty_transcript',
    })
  })

  const correction = {rule: 'confusion_map', before: 'a', after: 'b', reason: 'test'} as const
  const needy: readonly (readonly [string, Partial<PolishOptions>, Partial<Unpolished>])[] = [
    ['a low confidence', {}, {confidence: 0.8199}],
    ['more than eight corrections', {}, {trace: Array.from({length: 9}, () => correction)}],
    ['a tool that uses it', {routeMode: 'tool'}, {}],
    ['a task that is created from it', {routeMode: 'orchestrator'}, {}],
  ]
  for (const [reason, changes, text] of needy)
    it(`is polished because of ${reason}`, async () => {
      const {report} = await polish(
        {...transcript('hello'), confidence: 0.87, ...text},
        {...options, ...changes},
        async () => async () => JSON.stringify({corrected_text: 'Hello', confidence: 0.9}),
        undefined,
      )
      assert.equal(report.applied, true)
    })

  it('is not polished because of eight corrections or a chat', async () => {
    const report = await skipped({routeMode: 'chat'}, {trace: Array.from({length: 8}, () => correction)})
    assert.equal('reason' in report && report.reason, 'deterministic_confidence_sufficient')
  })
})

describe('a correction', () => {
  const answer = {
    corrected_text: ' please create a function ',
    confidence: 0.91,
    changes: [{before: 'creat', after: 'create'}],
    keep_original: false,
  }

  it('replaces the text and its confidence', async () => {
    assert.deepEqual(await polishedBy(answer), {
      text: 'please create a function',
      confidence: 0.91,
      report: {applied: true, llm: answer, effective_confidence: 0.91, corrected_text: 'please create a function'},
    })
  })

  it('without a confidence keeps that of the transcript', async () => {
    const {confidence, report} = await polishedBy({corrected_text: 'please create a function', changes: null})
    assert.equal(confidence, 0.7)
    assert.deepEqual(report.applied && report.llm, {corrected_text: 'please create a function'})
  })

  it('can be in a fenced block; unknown fields are dropped', async () => {
    const {report} = await polishedBy(`\n\`\`\`json\n${JSON.stringify({...answer, extra: 1})}\n\`\`\`\n`)
    assert.deepEqual(report.applied && report.llm, answer)
  })

  it('is not used if the model keeps the original', async () => {
    const llm = {corrected_text: 'other', keep_original: true}
    assert.deepEqual(await rejection(llm), {applied: false, keep_original: true, llm})
  })

  it('is requested with both texts as data, a low temperature and a limit of tokens', async () => {
    const calls: [readonly ModelMessage[], {maxTokens: number; temperature: number | undefined}][] = []
    const text = {...transcript('say "stop" now'), rawText: 'say  "stop" now\n'}
    for (const maxOutputTokens of [1, 512]) {
      const ask: AskModel = async (messages, {maxTokens, temperature}) => {
        calls.push([messages, {maxTokens, temperature}])
        return '{}'
      }
      await polish(text, {...options, maxOutputTokens}, async () => ask, undefined)
    }
    assert.deepEqual(
      calls.map(([, parameters]) => parameters),
      [
        {maxTokens: 64, temperature: 0.1},
        {maxTokens: 512, temperature: 0.1},
      ],
    )
    const [system, user] = calls[0]?.[0] ?? []
    assert.deepEqual([system?.role, user?.role], ['system', 'user'])
    assert.ok(user?.content.includes('"say \\"stop\\" now"') && user.content.includes('"say  \\"stop\\" now\\n"'))
  })
})

describe('an unusable answer', () => {
  const reasons: readonly (readonly [answer: unknown, reason: string, text?: string])[] = [
    ['{"corrected_text": "a', 'parse_failed'],
    ['["a"]', 'parse_failed'],
    ['null', 'parse_failed'],
    ['Here you are: {"corrected_text": "a"}', 'parse_failed'],
    ['', 'parse_failed'],
    [{corrected_text: 'a', changes: 'none'}, 'changes_schema_invalid'],
    [{corrected_text: 'a', changes: [{before: 'a'}]}, 'changes_schema_invalid'],
    [{corrected_text: 'a', changes: [null]}, 'changes_schema_invalid'],
    [{corrected_text: 'a', changes: 1, confidence: 7}, 'changes_schema_invalid'],
    [{corrected_text: 'a', confidence: 1.01}, 'confidence_out_of_range'],
    [{corrected_text: 'a', confidence: -0.01, keep_original: true}, 'confidence_out_of_range'],
    [{corrected_text: 'a', confidence: '0.5'}, 'confidence_out_of_range'],
    [{corrected_text: ' \n'}, 'missing_corrected_text'],
    [{corrected_text: 7}, 'missing_corrected_text'],
    [{keep_original: 'yes'}, 'missing_corrected_text'],
    [{corrected_text: 'x'.repeat(90)}, 'surface_validation_failed'],
    [{corrected_text: 'y'.repeat(1080)}, 'surface_validation_failed', 'x'.repeat(350)],
    [{corrected_text: 'please\u001b[2J'}, 'surface_validation_failed'],
    [{corrected_text: 'please\ud800'}, 'surface_validation_failed'],
    [{corrected_text: 'a b c x::y'}, 'surface_validation_failed', 'a::b c::d x::y e::f'],
    [{corrected_text: 'a b c'}, 'surface_validation_failed', '--a --b --c'],
    [{corrected_text: 'a b c d'}, 'surface_validation_failed', 'a/b c\\d e/f'],
    [{corrected_text: 'run it verbose'}, 'protected_token_not_preserved', 'run it --verbose'],
    [{corrected_text: 'run --no-cache'}, 'protected_token_not_preserved', 'run --no --no-cache'],
    [{corrected_text: 'std use'}, 'protected_token_not_preserved', 'use std::'],
    [{corrected_text: 'take fifteen'}, 'protected_token_not_preserved', 'take 50'],
  ]
  for (const [answer, reason, text] of reasons)
    it(`of the form ${JSON.stringify(answer).slice(0, 60)} is reported as ${reason}`, async () => {
      const report = await rejection(answer, text)
      assert.equal('reason' in report && report.reason, reason)
    })

  it('that cannot be parsed is shown in part', async () => {
    const report = await rejection('🙂'.repeat(600))
    assert.ok('raw_preview' in report)
    assert.equal([...report.raw_preview].length, 512)
    assert.ok('error' in (await rejection('x'.repeat(1 << 19))))
  })

  it('that loses a path is reported with its base name', async () => {
    const report = await rejection({corrected_text: 'open it'}, 'open /srv/notes.txt')
    assert.equal('error' in report && report.error, 'The correction does not keep notes.txt.')
  })
})

describe('a model', () => {
  const text = transcript('hello wold')

  it('that cannot be found leaves the text unchanged', async () => {
    const gone = async () => Promise.reject(new Error('No model in /srv/models/small.'))
    assert.deepEqual(await polish(text, options, gone, undefined), {
      text: 'hello wold',
      confidence: 0.7,
      report: {applied: false, reason: 'model_resolve_failed', error: 'No model in small.'},
    })
  })

  it('that fails leaves the text unchanged', async () => {
    const {report} = await polish(
      text,
      options,
      async () => () => Promise.reject(new Error('Cannot reach http://user:key@host:9/v1?token=abc: refused.')),
      undefined,
    )
    assert.deepEqual(report, {
      applied: false,
      reason: 'infer_failed',
      error: 'Cannot reach http://host:9: refused.',
    })
  })

  for (const [step, resolve] of [
    ['does not answer', (seen: (signal: AbortSignal) => void) => async () => hanging(seen)],
    [
      'is never found',
      (seen: (signal: AbortSignal) => void) => (signal: AbortSignal) => {
        seen(signal)
        return new Promise<never>(() => {})
      },
    ],
  ] as const)
    it(`that ${step} is aborted at the deadline and not awaited`, async () => {
      let aborted: AbortSignal | undefined
      const resolveModel = resolve((signal) => {
        aborted = signal
      })
      const {text: unchanged, report} = await polish(text, {...options, deadlineMs: 5}, resolveModel, undefined)
      assert.equal(unchanged, 'hello wold')
      assert.deepEqual(report, {
        applied: false,
        reason: 'infer_failed',
        error: 'The model did not answer within 5 ms.',
      })
      assert.equal(aborted?.aborted, true)
    })

  it('is not asked any longer when the caller aborts', async () => {
    const controller = new AbortController()
    const {report} = await polish(text, options, async () => hanging(() => controller.abort()), controller.signal)
    assert.equal('reason' in report && report.reason, 'infer_failed')
    const unused = () => assert.fail('The model must not be searched.')
    assert.equal((await polish(text, options, unused, controller.signal)).text, 'hello wold')
  })

  const hanging =
    (seen: (signal: AbortSignal) => void): AskModel =>
    (_, {signal}) => {
      seen(signal)
      return new Promise(() => {})
    }
})

describe('protected words', () => {
  const original =
    'run --dry-run on src/main.ts and std::vec, see https://a.example/b?c=1 or C:\\x.txt, 3.14 of v2 今日は5時'
  const protectedWords = '--dry-run src/main.ts std::vec https://a.example/b?c=1 C:\\x.txt 3.14 v2 5'.split(' ')

  it('are flags, paths, URLs, names with symbols, and numbers', () => {
    for (const word of protectedWords) {
      const without = original.replace(word, 'x')
      assert.equal(lostWord(without, transcript(original)), word)
    }
    assert.equal(lostWord(original.toUpperCase().toLowerCase(), transcript('plain words')), undefined)
  })

  it('are kept at another place and with other punctuation', () => {
    assert.equal(lostWord('5。 (v2), "3.14": x/y', transcript('3.14 x/y v2 5')), undefined)
    assert.equal(lostWord('x/y', transcript('x/y x/y')), 'x/y')
  })

  it('are in the result for 500 random answers', async () => {
    const random = randomSource(7)
    const reasons = new Set<string>()
    for (let round = 0; round < 500; round++) {
      const raw = randomAnswer(original, random)
      const {text, confidence, report} = await polishedBy(raw, original)
      for (const word of protectedWords) assert.ok(text.includes(word), `round ${round}: ${word} is missing in ${text}`)
      assert.ok(text.length <= 3 * original.length + 20 && confidence >= 0 && confidence <= 1)
      assert.ok(report.applied || text === original)
      reasons.add('reason' in report ? report.reason : report.applied ? 'applied' : 'keep_original')
    }
    assert.deepEqual([...reasons].sort(), [
      'applied',
      'changes_schema_invalid',
      'confidence_out_of_range',
      'keep_original',
      'missing_corrected_text',
      'parse_failed',
      'protected_token_not_preserved',
      'surface_validation_failed',
    ])
  })
})

describe('the reason of a failure', () => {
  const messages: readonly (readonly [message: string, shown: string])[] = [
    ['Cannot read /home/ada/key.pem: denied.', 'Cannot read key.pem: denied.'],
    ['Cannot read C:\\Users\\Ada\\key.pem.', 'Cannot read key.pem.'],
    ['Cannot read ~/x/y, or ./z/w.', 'Cannot read y, or w.'],
    [
      'https://u:p@a.example:1/v1/chat?k=s responded with status 500.',
      'https://a.example:1 responded with status 500.',
    ],
    ['The read/write ratio is 1/2.', 'The read/write ratio is 1/2.'],
  ]
  for (const [message, shown] of messages)
    it(`"${message}" is shown as "${shown}"`, () => assert.equal(failureText(new Error(message)), shown))
})

/** An answer in which anything can be wrong, and often nothing is. */
function randomAnswer(original: string, random: () => number): string {
  const pick = <T>(...values: readonly T[]) => values[Math.floor(random() * values.length)] as T
  const edited = () =>
    original
      .split(' ')
      .flatMap((word) => (random() < 0.05 ? pick([], [word, word], [word.slice(1)], [word.toUpperCase()]) : [word]))
      .join(' ')
  const wrong = () => pick<unknown>(null, 7, -1, '', [], {}, true, '\u0000', 'x'.repeat(5000))
  const answer: Record<string, unknown> = {
    corrected_text: pick<unknown>(original, edited(), edited(), `${original} ${'long '.repeat(200)}`, wrong()),
    confidence: pick<unknown>(0.5, 1, undefined, 2, 'high'),
    changes: pick<unknown>([], undefined, [{before: 'a', after: 'b', extra: 1}], [{before: 1}], wrong()),
    keep_original: pick<unknown>(false, undefined, false, true),
    [pick('extra', '__proto__', 'text')]: wrong(),
  }
  const text = JSON.stringify(answer)
  return pick(text, text, `\`\`\`json\n${text}\n\`\`\``, text, text.slice(0, Math.floor(text.length * random())))
}
