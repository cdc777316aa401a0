import assert from 'node:assert/strict'
import {lstat, mkdir, readdir, readFile, readlink, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {answerPatterns} from '../../src/assistant/code/answer-pattern.js'
import {type CodeOutcome, type CodeRequest, generateCode} from '../../src/assistant/index.js'
import {SvcError} from '../../src/errors/index.js'
import {assertFits} from '../support/orch-workspace.js'
import {type Answer, type ChatCall, chatLines, inTurn, scriptedChat} from '../support/scripted-inference.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {kept, openTestAssistant, refused, unstopped} from './support/open-test-assistant.js'

const note = '@table type Note { title: str }\n'
/** A program with an unknown type. */
const wrong = '@table type Note { title: strin }\n'
const wrongElsewhere = `// again\n${wrong}`
const wrongOtherwise = '@table type Note { title: strang }\n'
const fencedNote = `\`\`\`svc\n${note}\`\`\``

/** A workspace with a model that gives these scripted answers. */
async function codeWith(test: TestContext, answer: Answer<ChatCall>, root?: string) {
  const server = await scriptedChat(test, answer)
  const opened = await openTestAssistant(test, {url: server.baseUrl, ...(root === undefined ? {} : {root})})
  const generate = async (changes: Partial<CodeRequest> = {}, hooks = unstopped) => {
    const request = {prompt: 'A table of notes.', journeyId: 'journey-1', surface: 'mcp', ...changes} as const
    const outcome = await generateCode(opened.assistant, request, hooks)
    await assertFits('codegen/runtime-generation-kpi.v1', outcome.kpi)
    if (outcome.ok && outcome.fileOutcomes !== undefined)
      await assertFits('codegen/file-outcomes.v1', outcome.fileOutcomes)
    return outcome
  }
  return {...opened, server, generate}
}

function accepted(outcome: CodeOutcome) {
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.message)
  return outcome
}

function rejected(outcome: CodeOutcome) {
  assert.ok(!outcome.ok, 'a program was generated')
  return outcome
}

const lastSaid = (call: ChatCall | undefined) => call?.messages.at(-1)?.content ?? ''

describe('generateCode', () => {
  it('returns a valid first program', async (test) => {
    const code = await codeWith(test, inTurn(note))
    const {code: text, kpi} = accepted(await code.generate())
    assert.equal(text, note)
    const {time_to_first_valid_ms: ms, ...rest} = kpi
    assert.ok(Number.isInteger(ms) && (ms ?? -1) >= 0)
    assert.deepEqual(rest, {
      schema: 'svc_runtime_generation_kpi_v1',
      schema_version: 1,
      surface: 'mcp',
      success: true,
      validate_requested: true,
      compile_pass: true,
      canonical_pass: true,
      attempts: 1,
      repair_stalled: false,
      output_tokens: 10,
      surface_contract_failures: 0,
      strictness_failures: 0,
    })
    const [call] = code.server.calls
    assert.deepEqual(call?.options, {temperature: 0.1, num_predict: 2048})
    assert.deepEqual(
      call?.messages.map(({role}) => role),
      ['system', 'user'],
    )
    assert.equal(lastSaid(call), 'A table of notes.')
    assert.equal((call as ChatCall & {guided_regex?: string}).guided_regex, answerPatterns.raw_code_only)
  })

  it('reports whether the program is formatted', async (test) => {
    const {generate} = await codeWith(test, inTurn('@table type Note {title:str}'))
    const {kpi} = accepted(await generate())
    assert.deepEqual([kpi.compile_pass, kpi.canonical_pass], [true, false])
  })

  it('sends the errors of an invalid program to the model and returns the fixed one', async (test) => {
    const {generate, server, ...code} = await codeWith(test, inTurn(wrong, note))
    const {code: text, kpi} = accepted(await generate())
    assert.equal(text, note)
    assert.deepEqual([kpi.attempts, kpi.output_tokens, kpi.compile_pass], [2, 30, true])
    const second = server.calls[1]
    assert.deepEqual(
      second?.messages.map(({role}) => role),
      ['system', 'user', 'assistant', 'user'],
    )
    assert.equal(second?.messages[2]?.content, wrong)
    assert.match(
      lastSaid(second),
      /error\[typecheck\.unknown_type\].*strin[\s\S]*program\.svc:1:27[\s\S]*program alone/,
    )
    assert.equal(kept(code).interactions.length, 2)
    assert.deepEqual(kept(code).conversations, [])
  })

  it('sends only the last invalid answer', async (test) => {
    const {generate, server} = await codeWith(test, inTurn(wrong, wrongOtherwise, note))
    accepted(await generate())
    assert.deepEqual(
      server.calls.map(({messages}) => messages.length),
      [2, 4, 4],
    )
    assert.equal(server.calls[2]?.messages[2]?.content, wrongOtherwise)
  })

  it('fails after three invalid programs', async (test) => {
    const {generate, server} = await codeWith(test, inTurn(wrong, wrongOtherwise, wrong, note))
    const {error, findings, repair, kpi} = rejected(await generate())
    assert.equal(server.calls.length, 3)
    assert.deepEqual(repair, {attempts: 3, failure_category: 'semantic'})
    assert.deepEqual(
      findings.map(({severity, code, category, line}) => [severity, code, category, line]),
      [['error', 'typecheck.unknown_type', 'typecheck', 1]],
    )
    assert.deepEqual(
      [kpi.success, kpi.compile_pass, kpi.time_to_first_valid_ms, kpi.failure_category],
      [false, false, null, 'semantic'],
    )
    assert.equal(error.code, 'validation_failed')
    assert.deepEqual({...error.params, reason: ''}, {attempts: 3, category: 'semantic', model: 'run-a', reason: ''})
    assert.match(
      error.message,
      /^The model run-a returned only programs with errors in 3 attempts: typecheck\.unknown_type: .*[^.]\.$/,
    )
  })

  it('fails after the same errors twice in a row, even on other lines', async (test) => {
    const {generate, server} = await codeWith(test, inTurn(wrong, wrongElsewhere, note))
    const {error, repair, kpi} = rejected(await generate({maxRetries: 5}))
    assert.equal(server.calls.length, 2)
    assert.deepEqual(repair, {attempts: 2, stalled: true, failure_category: 'repair_stall'})
    assert.deepEqual([kpi.repair_stalled, kpi.failure_category], [true, 'repair_stall'])
    assert.equal(error.code, 'repair_stalled')
  })

  it('retries if the same errors return after others', async (test) => {
    const {generate} = await codeWith(test, inTurn(wrong, wrongOtherwise, wrong, note))
    assert.equal(accepted(await generate({maxRetries: 3})).kpi.attempts, 4)
  })

  it('makes one attempt without retries', async (test) => {
    const {generate, server} = await codeWith(test, inTurn(wrong, note))
    assert.match(
      rejected(await generate({maxRetries: 0})).error.message,
      /^The model run-a returned only programs with errors: /,
    )
    assert.equal(server.calls.length, 1)
  })

  it('rejects declarations that the language ignores', async (test) => {
    const skipped = '@endpoint(kind: query) @auth(user)\nfn one() to int { return 1 }\n'
    const {generate} = await codeWith(test, inTurn(skipped, note))
    const {kpi} = accepted(await generate())
    assert.deepEqual([kpi.attempts, kpi.strictness_failures], [2, 1])
  })

  it('accepts a program with warnings', async (test) => {
    const {generate} = await codeWith(test, inTurn('@table type Note { id: int }\n'))
    assert.equal(accepted(await generate()).kpi.attempts, 1)
  })

  it('rejects a program that contains only comments', async (test) => {
    const {generate, server} = await codeWith(test, inTurn('// nothing\n', note))
    assert.equal(accepted(await generate()).kpi.attempts, 2)
    assert.match(lastSaid(server.calls[1]), /declares nothing/)
  })

  it('does not check the program without validate', async (test) => {
    const {generate} = await codeWith(test, inTurn(wrong))
    const {code, kpi} = accepted(await generate({validate: false}))
    assert.equal(code, wrong)
    assert.deepEqual(
      [kpi.validate_requested, kpi.compile_pass, kpi.canonical_pass, kpi.time_to_first_valid_ms],
      [false, null, null, null],
    )
  })

  it('reports each attempt before it starts', async (test) => {
    const {generate} = await codeWith(test, inTurn(wrong, note))
    const attempts: [number, number, number][] = []
    const {server, assistant} = await codeWith(test, inTurn(wrong, note))
    await generateCode(
      assistant,
      {prompt: 'Notes.', journeyId: 'j', surface: 'svc-cli'},
      {...unstopped, onAttempt: (attempt, most) => attempts.push([attempt, most, server.calls.length])},
    )
    assert.deepEqual(attempts, [
      [1, 3, 0],
      [2, 3, 1],
    ])
    accepted(await generate())
  })
})

describe('generateCode, for an answer with another output format', () => {
  it('retries if the answer has a code fence', async (test) => {
    const {generate, server} = await codeWith(test, inTurn(fencedNote, note))
    const {code, kpi} = accepted(await generate())
    assert.equal(code, note)
    assert.deepEqual([kpi.attempts, kpi.surface_contract_failures], [2, 1])
    assert.match(lastSaid(server.calls[1]), /the answer has a code fence/)
  })

  it('retries if the answer contains prose', async (test) => {
    const {generate, server} = await codeWith(test, inTurn(`Sure! Here it is:\n${note}`, note))
    assert.equal(accepted(await generate()).kpi.surface_contract_failures, 1)
    assert.match(lastSaid(server.calls[1]), /line 1 is not part of a program/)
  })

  it('retries even without validate', async (test) => {
    const {generate} = await codeWith(test, inTurn('I cannot.', `${note}${wrong.replace('@', '')}`, note))
    const {kpi} = accepted(await generate({validate: false}))
    assert.deepEqual([kpi.attempts, kpi.surface_contract_failures, kpi.compile_pass], [3, 2, null])
  })

  it('quotes the answer to the model but not in the error', async (test) => {
    const secret = 'The secret is seven.'
    const {generate, server} = await codeWith(test, inTurn(secret, secret))
    const {error} = rejected(await generate({maxRetries: 1}))
    assert.match(lastSaid(server.calls[1]), /line 1 is not part of a program: "The secret is seven\."\./)
    assert.doesNotMatch(JSON.stringify([error.message, error.params]), /secret/)
    assert.equal(error.params && 'reason' in error.params && error.params.reason, 'line 1 is not part of a program')
  })

  it('counts code with syntax errors as invalid, not as another format', async (test) => {
    const {generate, server} = await codeWith(
      test,
      inTurn('table Note { title: str }\n', `/* Notes. */\n${note}`, note),
    )
    const {kpi} = accepted(await generate())
    assert.deepEqual([kpi.attempts, kpi.surface_contract_failures], [3, 0])
    assert.match(lastSaid(server.calls[1]), /parse\.unexpected_token/)
    assert.match(lastSaid(server.calls[2]), /parse\.block_comment/)
  })

  it('retries if the answer was truncated', async (test) => {
    const {generate, server} = await codeWith(test, (response, _call, count) =>
      response.end(chatLines(note, count === 1 ? {done_reason: 'length'} : {})),
    )
    assert.equal(accepted(await generate()).kpi.surface_contract_failures, 1)
    assert.match(lastSaid(server.calls[1]), /cut off at 2048 tokens/)
  })

  it('fails after three attempts without checking a program', async (test) => {
    const {generate} = await codeWith(test, inTurn(fencedNote, fencedNote, fencedNote, note))
    const {error, findings, repair, kpi} = rejected(await generate())
    assert.equal(error.code, 'surface_contract')
    assert.deepEqual(findings, [])
    assert.deepEqual(repair, {attempts: 3, failure_category: 'surface_contract'})
    assert.deepEqual([kpi.compile_pass, kpi.surface_contract_failures, kpi.repair_stalled], [null, 3, false])
  })

  it('requires a code fence in fenced_transport mode', async (test) => {
    const {generate, server} = await codeWith(test, inTurn(note, `Here:\n${fencedNote}`))
    const {code, kpi} = accepted(await generate({surfaceMode: 'fenced_transport'}))
    assert.equal(code, note)
    assert.deepEqual([kpi.attempts, kpi.surface_contract_failures], [2, 1])
    assert.match(server.calls[0]?.messages[0]?.content ?? '', /exactly one fenced code block\.$/)
  })
})

describe('generateCode with outputPath', () => {
  it('writes the program and no other file', async (test) => {
    const {generate, root} = await codeWith(test, inTurn(note))
    const {fileOutcomes} = accepted(await generate({outputPath: 'src/new/note.svc'}))
    assert.deepEqual(fileOutcomes, {
      schema: 'svc_generate_code_file_outcomes_v1',
      schema_version: 1,
      written_paths: ['src/new/note.svc'],
      bytes_written: 32,
      artifact_kind: 'svc_generated',
    })
    assert.equal(await readFile(join(root, 'src/new/note.svc'), 'utf8'), note)
    assert.deepEqual(await readdir(join(root, 'src/new')), ['note.svc'])
  })

  it('replaces an existing file', async (test) => {
    const {generate, root} = await codeWith(test, inTurn(note))
    await writeFiles(root, {'note.svc': 'old'})
    accepted(await generate({outputPath: 'note.svc'}))
    assert.equal(await readFile(join(root, 'note.svc'), 'utf8'), note)
  })

  it('writes nothing if the program is invalid', async (test) => {
    const {generate, root} = await codeWith(test, inTurn(wrong, wrong))
    await writeFiles(root, {'note.svc': 'old'})
    rejected(await generate({outputPath: 'note.svc'}))
    rejected(await generate({outputPath: 'other/note.svc'}))
    assert.equal(await readFile(join(root, 'note.svc'), 'utf8'), 'old')
    assert.ok(!(await readdir(root)).includes('other'))
  })

  it('follows symbolic links within the workspace', async (test) => {
    const {generate, root} = await codeWith(test, inTurn(note))
    await mkdir(join(root, 'real'))
    await symlink('real', join(root, 'linked'))
    accepted(await generate({outputPath: 'linked/note.svc'}))
    assert.equal(await readFile(join(root, 'real/note.svc'), 'utf8'), note)
  })

  const forbidden: readonly [string, string, RegExp][] = [
    ['a path above the workspace', '../note.svc', /contains "\.\."/],
    ['an absolute path', '/tmp/note.svc', /not relative/],
    ['a path in .git', '.git/config', /\.git is reserved for svc and git/],
  ]
  for (const [what, outputPath, message] of forbidden)
    it(`rejects ${what} before a request to the model`, async (test) => {
      const {generate, server} = await codeWith(test, inTurn(note))
      assert.match((await refused('path_denied', generate({outputPath}))).message, message)
      assert.deepEqual(server.headers, [])
    })

  it('rejects symbolic links that leave the workspace', async (test) => {
    const outside = await temporaryFolder(test)
    const {generate, root} = await codeWith(test, inTurn(note))
    await symlink(outside, join(root, 'up'))
    for (const outputPath of ['up/note.svc', 'up/new/note.svc'])
      assert.match((await refused('path_denied', generate({outputPath}))).message, /it is outside the workspace/)
    assert.deepEqual(await readdir(outside), [])
  })

  it('replaces only regular files', async (test) => {
    const outside = await temporaryFolder(test)
    await writeFiles(outside, {'note.svc': 'old'})
    const {generate, root} = await codeWith(test, inTurn(note))
    await mkdir(join(root, 'folder.svc'))
    await symlink(join(outside, 'note.svc'), join(root, 'link.svc'))
    for (const outputPath of ['folder.svc', 'link.svc']) await refused('output_exists', generate({outputPath}))
    assert.equal(await readlink(join(root, 'link.svc')), join(outside, 'note.svc'))
    assert.equal(await readFile(join(outside, 'note.svc'), 'utf8'), 'old')
    assert.ok((await lstat(join(root, 'folder.svc'))).isDirectory())
  })

  it('rejects a link to the outside that was created during generation', async (test) => {
    const outside = await temporaryFolder(test)
    const root = await temporaryFolder(test)
    const {generate} = await codeWith(
      test,
      async (response) => {
        await symlink(outside, join(root, 'src'))
        response.end(chatLines(note))
      },
      root,
    )
    await refused('path_denied', generate({outputPath: 'src/note.svc'}))
    assert.deepEqual(await readdir(outside), [])
  })
})

describe('generateCode without an answer', () => {
  it('reports an unreachable server', async (test) => {
    const {assistant} = await openTestAssistant(test)
    const request = {prompt: 'Notes.', journeyId: 'j', surface: 'mcp', outputPath: 'note.svc'} as const
    await refused('unreachable', generateCode(assistant, request, unstopped))
  })

  it('disconnects and writes nothing if the caller aborts it', async (test) => {
    const stop = new AbortController()
    const reason = new Error('The user stopped it.')
    const {generate, server, root} = await codeWith(test, async (response, _call, count) => {
      if (count === 1) return response.end(chatLines(wrong))
      response.write(`${JSON.stringify({message: {content: '@table'}, done: false})}\n`)
      await sleep(30)
      return stop.abort(reason)
    })
    const run = generate({outputPath: 'note.svc'}, {signal: stop.signal})
    await assert.rejects(run, (error) => error === reason)
    await server.hungUp
    assert.ok(!(await readdir(root)).includes('note.svc'))
  })
})

describe('the error of an invalid program', () => {
  it('has status 422 and exit code 1', async (test) => {
    const {generate} = await codeWith(test, inTurn(wrong))
    const {error} = rejected(await generate({maxRetries: 0}))
    assert.ok(error instanceof SvcError)
    assert.deepEqual([error.status, error.exit], [422, 1])
  })
})
