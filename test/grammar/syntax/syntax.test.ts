import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../../src/errors/index.js'
import {
  choiceGrammar,
  compileGrammar,
  type Grammar,
  gbnfGrammar,
  larkGrammar,
  regexGrammar,
} from '../../../src/grammar/index.js'
import {matches} from '../support/judge.js'

const matching = (grammar: Grammar, ...texts: string[]): string[] => {
  const compiled = compileGrammar(grammar)
  return texts.filter((text) => matches(compiled, text))
}

/** Line, column and fault of a grammar. */
function faultOf(read: (source: string) => Grammar, source: string): string {
  try {
    read(source)
  } catch (error) {
    assert.ok(error instanceof SvcError && error.code === 'grammar_invalid', String(error))
    const {line, column, fault} = error.params as {line: number; column: number; fault: string}
    return `${line}:${column} ${fault}`
  }
  throw new assert.AssertionError({message: 'The grammar was read.'})
}

describe('a regular expression', () => {
  it('matches a whole reply', () => {
    assert.deepEqual(matching(regexGrammar('yes|no'), 'yes', 'no', 'yes!', 'not'), ['yes', 'no'])
    assert.deepEqual(matching(regexGrammar('^\\d{3}-\\d{4}$'), '555-0123', '5555-012'), ['555-0123'])
    assert.deepEqual(matching(regexGrammar('.+'), 'é😀', 'a\nb'), ['é😀'])
    assert.deepEqual(matching(regexGrammar('(?!no)[a-z]+'), 'yes', 'nod'), ['yes'])
  })

  it('is refused with the column of what is not regular', () => {
    assert.throws(
      () => regexGrammar('(ab)c\\1'),
      (error: SvcError) => {
        return error.code === 'pattern_unsupported' && (error.params as {column: number}).column === 6
      },
    )
  })
})

describe('a long or nested regular expression', () => {
  const code = (read: () => Grammar): string => {
    try {
      compileGrammar(read())
      return 'read'
    } catch (error) {
      assert.ok(error instanceof SvcError, String(error))
      return error.code
    }
  }

  for (const [what, source, expected] of [
    ['many characters', 'ab'.repeat(4000), 'read'],
    ['too many characters', 'ab'.repeat(50_000), 'grammar_limit'],
    ['nested groups', `${'(?:'.repeat(2400)}a${')'.repeat(2400)}`, 'grammar_limit'],
    ['many anchors', '^'.repeat(9000), 'pattern_unsupported'],
    ['alternatives with anchors', '(?:a$|b)'.repeat(40), 'pattern_unsupported'],
  ] as const)
    it(`is read or refused soon: ${what}`, () =>
      assert.equal(
        code(() => regexGrammar(source)),
        expected,
      ))

  it('has the characters of a Unicode property', () => {
    assert.deepEqual(matching(regexGrammar('\\p{L}+'), 'aß\u{10ffff}', 'aßд𐐀', '1'), ['aßд𐐀'])
    assert.deepEqual(matching(regexGrammar('\\P{L}'), '\ud7ff', '\ue000', '\u{10ffff}', 'a').length, 3)
  })

  it('keeps the meaning of the flag u', () => {
    for (const source of ['^\\p{L}\\-$', '^[^😀]\\-$', '[\\ud800]'])
      assert.equal(
        code(() => regexGrammar(source)),
        'pattern_unsupported',
        source,
      )
    assert.deepEqual(matching(regexGrammar('a\\-b'), 'a-b'), ['a-b'])
  })
})

describe('a list of choices', () => {
  it('refuses half of a surrogate pair, which no reply can be', () => {
    assert.throws(() => choiceGrammar(['a', '\ud800']), {code: 'pattern_unsupported'})
  })

  it('has a limit', () => {
    assert.throws(() => choiceGrammar(Array.from({length: 200_000}, String)), {code: 'grammar_limit'})
  })

  it('matches one of them', () => {
    assert.deepEqual(matching(choiceGrammar(['a.b', 'c']), 'a.b', 'axb', 'c', ''), ['a.b', 'c'])
  })

  it('needs at least one', () => {
    assert.throws(() => choiceGrammar([]), {code: 'grammar_unsatisfiable'})
  })
})

describe('GBNF', () => {
  it('refuses blanks without bounds, and many repetitions of one expression', () => {
    assert.match(faultOf(gbnfGrammar, `root ::= "a"{${' '.repeat(5000)}`), /no bounds/)
    assert.match(faultOf(gbnfGrammar, `root ::= "a"${'?'.repeat(20_000)}`), /repetitions follow each other/)
    assert.deepEqual(matching(gbnfGrammar('root ::= "a"{ 2 , 3 }'), 'a', 'aa', 'aaa'), ['aa', 'aaa'])
  })

  it('reads the arithmetic example of llama.cpp', () => {
    const grammar = gbnfGrammar(`root  ::= (expr "=" ws term "\\n")+
expr  ::= term ([-+*/] term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \\t\\n]*
`)
    assert.deepEqual(matching(grammar, 'a+1=2\n', '(a *b1)-3 = c\n', 'a+=2\n', 'a=1'), ['a+1=2\n', '(a *b1)-3 = c\n'])
  })

  it('reads comments, alternatives on lines of their own, escapes and bounds', () => {
    const grammar = gbnfGrammar(`# a comment
root ::= item{2,3} # another
  | "\\x41\\u00e9\\U0001F600\\"" |
    [^a-z\\]]{2}
item ::= ("x"
  "y")?
`)
    assert.deepEqual(matching(grammar, 'xyxy', '', 'Aé😀"', 'A]', '7-', 'xyxyxyxy'), ['xyxy', '', 'Aé😀"', '7-'])
  })

  it('allows left recursion', () => {
    assert.deepEqual(matching(gbnfGrammar('root ::= root "a" | "b"'), 'b', 'baa', 'a'), ['b', 'baa'])
  })

  for (const [fault, source] of [
    ['2:13 the rule item is not defined', 'root ::=\n  "a" | "b" item'],
    ['1:1 the rule root is not defined', 'list ::= "a"'],
    ['2:1 the rule root is defined twice', 'root ::= "a"\nroot ::= "b"'],
    ['1:12 the text ends too early', 'root ::= "a'],
    ['1:14 ) is missing', 'root ::= ("a"'],
    ['1:6 ::= is missing', 'root = "a"'],
    ['1:11 the range of characters is reversed', 'root ::= [z-a]'],
    ['1:13 a repetition has the bounds 3 and 2', 'root ::= "a"{3,2}'],
    ['1:10 tokens of a vocabulary are not supported', 'root ::= <think>'],
  ] as const) {
    it(`is refused at ${fault}`, () => assert.equal(faultOf(gbnfGrammar, source), fault))
  }
})

describe('Lark', () => {
  it('reads rules, terminals, ignored terminals and imports', () => {
    const grammar = larkGrammar(`
// a calculator
start: expr
?expr: expr ("+" | "-") term -> sum
     | term
term: NUMBER | "(" expr ")"
%import common.NUMBER
%ignore /[ \\t]+/
`)
    const texts = ['1+2', ' 1 - (2.5 +3)', '1+', '(1', '1 2']
    assert.deepEqual(matching(grammar, ...texts), texts.slice(0, 2))
  })

  it('reads ranges, flags, repetitions and optional parts', () => {
    const grammar = larkGrammar(
      'start: KEY "="i ["a".."f"] DIGITS~2..3 /x.y/s?\nKEY.2: "key"i | /k[0-9]/i\nDIGITS: "0".."9"\n',
    )
    assert.deepEqual(matching(grammar, 'KeY=a12', 'K1=123', 'k1=b12x\ny', 'key=g12', 'key=1'), [
      'KeY=a12',
      'K1=123',
      'k1=b12x\ny',
    ])
  })

  it('builds terminals from terminals', () => {
    const grammar = larkGrammar(
      'start: NAME ("," NAME)*\nNAME: LETTER (LETTER | DIGIT)*\nLETTER: /[a-z_]/\nDIGIT: "0".."9"\n%ignore " "',
    )
    assert.deepEqual(matching(grammar, 'a1, b', 'a b', 'a 1', '1a'), ['a1, b'])
  })

  for (const [fault, source] of [
    ['2:4 item is not defined', 'start: "a"\n | item'],
    ['1:1 the rule start is not defined', 'other: "a"'],
    ['2:1 start is defined twice', 'start: "a"\nstart: "b"'],
    ['1:12 templates are not supported', 'start: list{"a"}\nlist: "b"'],
    ['2:1 common.NOTHING is not known', 'start: NOTHING\n%import common.NOTHING'],
    ['1:8 the terminal A refers to itself', 'start: A\nA: A "a"'],
    ['1:8 the regular expression cannot be enforced: it has a back reference', 'start: /(a)\\1/'],
    ['1:8 the flags x are not supported', 'start: /a/x'],
    ['1:8 a range needs two characters in order', 'start: "b".."a"'],
    ['2:1 %declare is not supported here', 'start: "a"\n%declare B'],
  ] as const) {
    it(`is refused at ${fault}`, () => assert.equal(faultOf(larkGrammar, source), fault))
  }
})
