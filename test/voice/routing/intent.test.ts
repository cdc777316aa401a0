import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type EditorContext, noEditor} from '../../../src/voice/routing/editor-context.js'
import {findIntent, type Intent} from '../../../src/voice/routing/intent.js'
import {readSlots, slotGaps} from '../../../src/voice/routing/slots.js'

const editor: EditorContext = {activeFile: 'src/app.ts', cursorLine: 4, recentErrors: [], symbolStack: ['main', 'App']}
const withError = {...editor, recentErrors: ['[abc_core] unused variable']}

describe('findIntent', () => {
  const rows: [string, EditorContext, Intent, number][] = [
    ['please edit this', editor, 'code_edit', 0.85],
    ['change this to a list', editor, 'code_edit', 0.85],
    ['fix abc_core', withError, 'code_edit', 0.88],
    ['fix this', editor, 'code_edit', 0.82],
    ['fix it', withError, 'code_edit', 0.82],
    ['fix it', editor, 'none', 0.35],
    ['fix this', noEditor, 'none', 0.35],
    ['Speech Status', noEditor, 'speech_status', 0.92],
    ['svc speechstatus please', noEditor, 'speech_status', 0.92],
    ['status', noEditor, 'speech_status', 0.78],
    ['status of the speeches', noEditor, 'speech_status', 0.72],
    ['svc, your status', noEditor, 'speech_status', 0.55],
    ['create a function called main', noEditor, 'code_create', 0.74],
    ['write a function, please', noEditor, 'code_create', 0.74],
    ['precreate a functional test', noEditor, 'code_create', 0.72],
    ['create-function', noEditor, 'code_create', 0.74],
    ['cr eate func tion now', noEditor, 'code_create', 0.62],
    ['rename the helper', noEditor, 'code_edit', 0.7],
    ['exchange rate helper in the module', noEditor, 'none', 0.35],
    ['explain the loop', noEditor, 'explain_code', 0.66],
    ['and what does it do', noEditor, 'explain_code', 0.66],
    ['run the tests', noEditor, 'run_check', 0.7],
    ['npm test', noEditor, 'run_check', 0.7],
    ['good morning', noEditor, 'none', 0.35],
    ['  ', noEditor, 'none', 0],
  ]
  for (const [text, context, intent, confidence] of rows)
    it(`finds ${intent} in "${text}"${context === noEditor ? '' : ' with an editor'}`, () => {
      assert.deepEqual(findIntent(text, context), {intent, confidence})
    })
})

describe('readSlots', () => {
  const cases: [string, object][] = [
    [
      'create a function called hello',
      {symbol_name: 'hello', ast_target: {node_kind: 'function', symbol_name: 'hello', at_cursor: false}},
    ],
    ['edit the file src/main.ts, please', {target_path: 'src/main.ts'}],
    ['change `lib/x.svc` in old.txt', {target_path: 'lib/x.svc'}],
    ['explain this function', {ast_target: {node_kind: 'function', symbol_name: 'main', at_cursor: true}}],
    [
      'rename this file',
      {target_path: 'src/app.ts', ast_target: {node_kind: 'module', symbol_name: 'main', at_cursor: true}},
    ],
    [
      'add a type named `Row`',
      {symbol_name: 'Row', ast_target: {node_kind: 'type', symbol_name: 'Row', at_cursor: false}},
    ],
    ['create a function', {}],
    ['in the end', {}],
  ]
  for (const [text, slots] of cases) it(text, () => assert.deepEqual(readSlots(text, editor), slots))
})

describe('slotGaps', () => {
  it('names what an intent needs', () => {
    assert.deepEqual(slotGaps('code_create', {}), ['target_path_or_symbol'])
    assert.deepEqual(slotGaps('code_edit', {symbol_name: 'main'}), [])
    assert.deepEqual(slotGaps('run_check', {symbol_name: 'main'}), ['test_scope'])
    assert.deepEqual(slotGaps('run_check', {target_path: 'test/a.ts'}), [])
    assert.deepEqual(slotGaps('explain_code', {}), ['explain_focus'])
    assert.deepEqual(slotGaps('speech_status', {}), [])
  })
})
