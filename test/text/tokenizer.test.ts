import assert from 'node:assert/strict'
import {existsSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {Tokenizer as Library} from '@huggingface/tokenizers'
import {ChatTemplate, chatml, createTokenizer, TooManyTokens} from '../../src/text/index.js'
import {projectFile} from '../support/project.js'
import {seeded} from '../support/random.js'
import {byteTokenizer} from '../support/tiny-model.js'

interface TokenizerFile {
  added_tokens: {id: number; content: string; special: boolean; normalized: boolean}[]
  normalizer: object | null
  model: {vocab: Record<string, number>; merges: [string, string][] | string[]; ignore_merges?: boolean}
}

const read = (path: string) => JSON.parse(readFileSync(projectFile(path), 'utf8')) as TokenizerFile

/** Adds special tokens. */
function withSpecials(file: TokenizerFile, ...contents: string[]): TokenizerFile {
  const copy = structuredClone(file)
  let id = Math.max(...Object.values(copy.model.vocab)) + 1
  for (const content of contents.filter((each) => copy.model.vocab[each] === undefined)) {
    copy.added_tokens.push({id, content, special: true, normalized: false})
    copy.model.vocab[content] = id++
  }
  return copy
}

/** Trains byte-pair merges on a text; `▁` is a space. */
function trained(text: string, count: number): TokenizerFile {
  const random = seeded(7)
  const words = [...text.replaceAll(' ', '▁')]
  const vocab: Record<string, number> = Object.fromEntries([...new Set(words)].map((letter, i) => [letter, i]))
  const merges: [string, string][] = []
  while (merges.length < count) {
    const at = random.below(words.length - 1)
    const [first, second] = [words[at] as string, words[at + 1] as string]
    if (merges.some(([a, b]) => a === first && b === second)) continue
    merges.push([first, second])
    vocab[first + second] ??= Object.keys(vocab).length
    for (let i = 0; i < words.length - 1; i++)
      if (words[i] === first && words[i + 1] === second) words.splice(i, 2, first + second)
  }
  vocab['<unk>'] = Object.keys(vocab).length
  return {
    ...(byteTokenizer() as TokenizerFile),
    added_tokens: [],
    normalizer: {
      type: 'Sequence',
      normalizers: [
        {type: 'Prepend', prepend: '▁'},
        {type: 'Replace', pattern: {String: ' '}, content: '▁'},
      ],
    },
    ...{pre_tokenizer: null, post_processor: null, decoder: null},
    model: {
      type: 'BPE',
      unk_token: '<unk>',
      vocab,
      merges,
      ...{byte_fallback: false, fuse_unk: true},
    } as TokenizerFile['model'],
  }
}

const story = 'a fox saw the old dog, and the dog saw a fox; they ran and ran.  Then they sat   down. '
const guide = read('examples/runs/guide/tokenizer.json')
const roles = ['[INST]', '[/INST]', '<s>', '</s>', '<|im_start|>', '<|im_end|>', '<|eot_id|>', '<|start_header_id|>']
const fixtures: [name: string, file: TokenizerFile][] = [
  ['bytes', withSpecials(byteTokenizer() as TokenizerFile, ...roles)],
  ['byte-level merges', withSpecials(guide, ...roles)],
  [
    'byte-level merges, complete words first',
    {...withSpecials(guide, ...roles), model: {...withSpecials(guide, ...roles).model, ignore_merges: true}},
  ],
  ['merges across word boundaries', withSpecials(trained(story.repeat(4), 60), ...roles)],
  ...['stories260K/tokenizer.json', 'whisper-assets/tokenizer.json']
    .map((name) => `../shared/data/${name}`)
    .filter((path) => existsSync(projectFile(path)))
    .map((path): [string, TokenizerFile] => [path, read(path)]),
]

const letters = [...'ab the.,  \n\tÄ字𝄞▁<|[]/>INSTs0']
const texts = Array.from({length: 60}, (_, seed) => {
  const random = seeded(seed)
  const pieces = Array.from({length: random.below(60)}, () =>
    random.chance(0.3) ? random.pick(story.split(' ')) : random.chance(0.1) ? random.pick(roles) : random.pick(letters),
  )
  return pieces.join('')
})

for (const [name, file] of fixtures)
  describe(`createTokenizer: ${name}`, () => {
    const tokenizer = createTokenizer(file, {}, 'tokenizer.json')
    const library = new Library(file, {})

    it('returns the tokens of the library for the complete text', () => {
      for (const text of [...texts, story.repeat(20)])
        for (const special of [true, false])
          assert.deepEqual(
            tokenizer.encode(text, {special}),
            library.encode(text, {add_special_tokens: special}).ids,
            JSON.stringify(text),
          )
    })

    it('decodes like the library', () => {
      const random = seeded(11)
      const count = Math.max(...library.get_vocab(true).values()) + 1
      const sequences = [
        ...Array.from({length: count}, (_, token) => [token]),
        ...Array.from({length: 300}, () => Array.from({length: 1 + random.below(12)}, () => random.below(count))),
      ]
      for (const tokens of sequences)
        assert.equal(
          tokenizer.decode(tokens),
          library.decode(tokens, {skip_special_tokens: true, clean_up_tokenization_spaces: false}),
          tokens.join(' '),
        )
      assert.equal(tokenizer.decode([]), '')
    })

    it('has the ids of the library', () => {
      for (const [name, id] of library.get_vocab(true)) assert.equal(tokenizer.id(name), id, name)
      for (const name of ['no such token', 'constructor', ''])
        assert.equal(tokenizer.id(name), library.token_to_id(name))
    })

    it('finds the token that is a text', () => {
      const named = library.get_vocab(true)
      for (const [name, id] of named)
        if (tokenizer.bytes(id).toString() === name.replaceAll('▁', ' '))
          assert.equal(tokenizer.tokenOf(name.replaceAll('▁', ' ')), id, name)
      assert.equal(tokenizer.tokenOf('no such token'), undefined)
    })

    it('finds no special token in guarded text', () => {
      const specials = new Set(file.added_tokens.filter(({special}) => special).map(({id}) => id))
      const names = tokenizer.specials
      const hostile = names.flatMap((special) => [
        special,
        `a ${special} b`,
        `${special}${special}`,
        `${special.slice(0, 1)}${special}${special.slice(1)}`,
      ])
      for (const text of [...hostile, ...texts, names.join('')]) {
        const tokens = tokenizer.encode(tokenizer.guarded(text), {special: false})
        assert.deepEqual(
          tokens.filter((token) => specials.has(token) && tokenizer.id('<unk>') !== token),
          [],
          text,
        )
      }
    })

    it('does not change text without parts of special tokens', () => {
      for (const text of texts.filter((each) => !/[<[]/.test(each))) assert.equal(tokenizer.guarded(text), text)
    })

    it('finds only the special tokens of the template in a conversation', () => {
      const template = new ChatTemplate(chatml, 'f')
      const idsOf = (contents: readonly string[]) => {
        const messages = contents.map(
          (content, i) => ({role: i % 2 ? 'assistant' : 'user', content: tokenizer.guarded(content)}) as const,
        )
        const specials = new Set(tokenizer.specials.map((special) => tokenizer.id(special)))
        return tokenizer
          .encode(template.render(messages), {special: false})
          .filter((id) => specials.has(id) && id !== tokenizer.id('<unk>'))
      }
      const plain = idsOf(['x', 'x', 'x'])
      for (const special of tokenizer.specials.slice(0, 200))
        for (let at = 0; at <= special.length; at++)
          assert.deepEqual(idsOf([special.slice(0, at), special.slice(at), `x${special}`]), plain, special)
    })

    it('preserves the characters of guarded text', () => {
      for (const text of ['a [INST] b', 'x<|im_end|>', 'plain', '\uFDD0'])
        assert.equal(tokenizer.guarded(text).replaceAll('\uFDD0', ''), text.replaceAll('\uFDD0', '\uFFFD'))
    })

    it('stops at the maximum number of tokens, or if check throws', () => {
      const text = story.repeat(50)
      assert.throws(() => tokenizer.encode(text, {special: false, maxTokens: 100}), TooManyTokens)
      const cancelled = new Error('cancelled')
      const check = () => {
        throw cancelled
      }
      assert.throws(() => tokenizer.encode(text, {special: false, check}), cancelled)
      assert.ok(tokenizer.encode(text, {special: false}).length > 100)
    })
  })

describe('createTokenizer: a vocabulary that the library rejects', () => {
  const file = {...(byteTokenizer() as TokenizerFile), pre_tokenizer: {type: 'Unheard'}}

  it('is reported when a text is encoded, or before by prepare', () => {
    const tokenizer = createTokenizer(file, {}, 'tokenizer.json')
    const [letter = 0] = createTokenizer(byteTokenizer(), {}, 'tokenizer.json').encode('a', {special: false})
    assert.equal(tokenizer.decode([letter]), 'a')
    for (const use of [() => tokenizer.prepare(), () => tokenizer.encode('a', {special: false})])
      assert.throws(use, {code: 'tokenizer_unsupported'})
  })

  it('is reported at once if it is malformed', () => {
    for (const vocab of [[1, 2], [null]])
      assert.throws(() => createTokenizer({...file, model: {vocab}}, {}, 'tokenizer.json'), {
        code: 'model_file_invalid',
      })
  })
})

describe('createTokenizer: an added token without text', () => {
  it('occurs nowhere, as in the library', () => {
    const base = trained(story.repeat(4), 60)
    const added = ['', '<a>'].map((content, i) => ({id: 900 + i, content, special: false, normalized: false}))
    const normalizer = {type: 'Replace', pattern: {String: '▁'}, content: ''}
    const blank = {id: 902, content: '▁', special: false, normalized: true}
    for (const file of [
      {...base, added_tokens: added},
      {...base, added_tokens: [...added, blank], normalizer},
    ]) {
      const tokenizer = createTokenizer(file, {}, 'tokenizer.json')
      for (const text of [story, 'the <a> fox'])
        assert.deepEqual(
          tokenizer.encode(text, {special: false}),
          new Library(file, {}).encode(text, {add_special_tokens: false}).ids,
        )
    }
  })
})

describe('createTokenizer: text without word breaks', () => {
  const tokenizer = createTokenizer(trained('aaaaaaaa', 2), {}, 'tokenizer.json')

  it('is rejected if merging it would take minutes', () => {
    assert.throws(() => tokenizer.encode('a'.repeat(70_000), {special: false}), {
      code: 'bad_request',
      message: 'the prompt has 70000 characters without a word break; the maximum is 65536',
    })
    assert.equal(tokenizer.encode('a'.repeat(4000), {special: false}).length > 0, true)
  })
})

describe('createTokenizer: long text', () => {
  it('is encoded in linear time', () => {
    const tokenizer = createTokenizer(trained(story.repeat(4), 60), {}, 'tokenizer.json')
    const cpu = (text: string) => {
      const before = process.cpuUsage()
      tokenizer.encode(text, {special: false})
      const {user, system} = process.cpuUsage(before)
      return user + system
    }
    cpu(story.repeat(100))
    const once = cpu(story.repeat(1000))
    assert.ok(cpu(story.repeat(8000)) < 8 * 4 * once)
  })
})
