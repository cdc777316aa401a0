import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {readDeclarations} from '../../src/weights/declarations.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const json = JSON.stringify
const tokenizer = (settings: object) => ({'tokenizer_config.json': json(settings)})
const specials = (settings: object) => ({'special_tokens_map.json': json(settings)})
const generation = (settings: object) => ({'generation_config.json': json(settings)})
const template = (text: string) => ({'chat_template.jinja': text})

type Files = Record<string, string>
/** Files of run and base, and the effective value of one statement. */
const rows: readonly [statement: string, run: Files, base: Files, effective: object][] = [
  ['the template file of the run', template('run'), template('base'), {template: 'run'}],
  [
    'the template setting of the run, before the template file of the base',
    tokenizer({chat_template: 'run'}),
    template('base'),
    {template: 'run'},
  ],
  [
    'the template file of a folder, before its template setting',
    {...template('file'), ...tokenizer({chat_template: 'setting'})},
    {},
    {template: 'file'},
  ],
  [
    'the template of a folder with its own for tools',
    {...template('file'), 'additional_chat_templates/tool_use.jinja': 'tools'},
    template('base'),
    {
      template: [
        {name: 'default', template: 'file'},
        {name: 'tool_use', template: 'tools'},
      ],
    },
  ],
  ['the template of the base', tokenizer({pad_token: 'p'}), template('base'), {template: 'base', pad_token: 'p'}],
  [
    'a special token of the run, before that of the base',
    tokenizer({eos_token: 'run'}),
    tokenizer({eos_token: 'base', bos_token: 'base'}),
    {eos_token: 'run', bos_token: 'base'},
  ],
  [
    'a special token in the map of the run, before that in the settings of the base',
    specials({eos_token: 'run'}),
    tokenizer({eos_token: 'base'}),
    {eos_token: 'run'},
  ],
  [
    'the settings of a folder, before its map of special tokens',
    {...specials({eos_token: 'map', pad_token: 'map'}), ...tokenizer({eos_token: 'settings', pad_token: null})},
    {},
    {eos_token: 'settings', pad_token: 'map'},
  ],
  [
    'a generation setting of the run, before that of the base',
    generation({temperature: 1}),
    generation({temperature: 2, eos_token_id: 3}),
    {generation: {temperature: 1, eos_token_id: 3}},
  ],
]

describe('readDeclarations', () => {
  for (const [statement, run, base, effective] of rows)
    it(`uses ${statement}`, async (test) => {
      const folder = await temporaryFolder(test)
      const folders = [join(folder, 'run'), join(folder, 'base')]
      await writeFiles(folders[0] as string, run)
      await writeFiles(folders[1] as string, base)
      const {tokenizer: settings, template: found, generation: generated} = await readDeclarations(folders)
      const actual = {...settings, template: found?.declared, generation: generated}
      assert.deepEqual(actual, {template: undefined, generation: {}, ...effective})
    })
})
