import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {JinjaTemplate, TemplateError} from '../../src/text/jinja/index.js'
import {projectFile} from '../support/project.js'

/** What Jinja2 renders; `write-answers.py` in the same folder writes it. */
interface Answers {
  head: {jinja2: string; now: string; base: Record<string, unknown>}
  /** The text is null if Jinja2 raises an exception. */
  rows: {template: string; variables?: Record<string, unknown>; text: string | null}[]
  conversations: Record<string, unknown>[]
  /** By the path of the template. */
  families: Record<string, (string | null)[]>
}

const fixture = (name: string) => readFileSync(projectFile(`test/fixtures/${name}`), 'utf8')
const {head, rows, conversations, families} = JSON.parse(fixture('jinja/answers.json')) as Answers
const now = () => new Date(head.now)

function rendered(template: JinjaTemplate, variables: Record<string, unknown>): string | null {
  try {
    return template.render(variables)
  } catch (error) {
    if (error instanceof TemplateError) return null
    throw error
  }
}

function renderedSource(source: string, variables: Record<string, unknown>): string | null {
  try {
    return rendered(new JinjaTemplate(source, {now}), variables)
  } catch (error) {
    if (error instanceof TemplateError) return null
    throw error
  }
}

describe('JinjaTemplate', () => {
  it(`renders ${rows.length} templates like Jinja2 ${head.jinja2}`, () => {
    assert.ok(rows.length > 400)
    for (const {template, variables, text} of rows)
      assert.equal(renderedSource(template, {...head.base, ...variables}), text, JSON.stringify({template, variables}))
  })

  for (const [family, texts] of Object.entries(families))
    it(`renders ${texts.length} conversations of ${family} like Jinja2`, () => {
      const template = new JinjaTemplate(fixture(`${family}.jinja`), {now})
      assert.deepEqual(
        conversations.map((variables) => rendered(template, variables)),
        texts,
      )
    })

  const shared =
    '{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(40) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}'
  const repeat = `{% set t = 'a' * 4000000 %}{% set u = 'a' * 4000000 %}{% for i in range(999) %}{% for j in range(999) %}`
  const endless: Readonly<Record<string, string>> = {
    'repeats loops': '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
    'repeats filters': '{% for a in range(99999) %}{{ range(99999)|list|length }}{% endfor %}',
    'doubles a text': `{% set ns = namespace(t='x') %}{% for i in range(60) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}`,
    'repeats a text': `{{ 'x' * 999999999999 }}`,
    'pads a text': `{{ '%999999999d' % 1 }}`,
    'pads with a filter': `{{ 'x'|center(999999999) }}`,
    'indents with a width': `{{ 'x\ny'|indent(999999999) }}`,
    'replaces nothing': `{{ ('x' * 9999).replace('', 'y' * 99999) }}`,
    'calls itself': '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    'formats a large number': `{{ '{:999999999}'.format(1) }}`,
    'nests expressions': `{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`,
    'nests lists':
      '{% set ns = namespace(l=[]) %}{% for i in range(50000) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}',
    'keeps many texts': `{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = ns.l + [('x' * 4000000)|upper] %}{% endfor %}`,
    'keeps many joined texts': `{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set t = ('日' * 4000000) ~ i %}{% set ns.l = ns.l + [t] %}{% endfor %}`,
    'creates a long text': `{{ ('日' * 60000000) ~ 1 }}`,
    'compares shared lists': `${shared}{{ ns.a == ns.b }}`,
    'prints shared lists': `${shared}{{ ns.a }}`,
    'measures a long text': `${repeat}{% if t|length %}{% endif %}{% endfor %}{% endfor %}`,
    'splits a long text': `${repeat}{% set l = t.splitlines() %}{% endfor %}{% endfor %}`,
    'searches a long text': `${repeat}{% if 'z' in t %}{% endif %}{% endfor %}{% endfor %}`,
    'searches for a long text': `${repeat}{% if 'b' ~ t[:5000] in t %}{% endif %}{% endfor %}{% endfor %}`,
    'compares long texts': `${repeat}{% if t == u %}{% endif %}{% endfor %}{% endfor %}`,
    'indexes a long text': `${repeat}{% set c = t[9] %}{% endfor %}{% endfor %}`,
    'copies lists':
      '{% set d = dict(range(9999)|batch(2)) %}{% for i in range(99999) %}{% set k = d.items() %}{% endfor %}',
    'opens format keys': `{{ ('%(' * 50000) % {} }}`,
    'opens format items': `{{ ('{0' ~ '[' * 100000 ~ '}').format([]) }}`,
    'repeats a fill character': `{{ 'x'.rjust(4000000, 'ab' * 1000000) }}`,
    'indents JSON': `{{ [[[[[1]]]]]|tojson(indent=4000000) }}`,
    'multiplies lists':
      '{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}',
  }
  /** Those that create little, so that only the number of steps ends them; a tenth of the usual number takes less time. */
  const cheap = ['repeats loops', 'repeats filters', 'compares shared lists', 'measures a long text']
  for (const [what, source] of Object.entries(endless))
    it(`ends a template that ${what}`, () => {
      const limit = cheap.includes(what) ? {maxSteps: 2_000_000} : {}
      assert.throws(() => new JinjaTemplate(source, limit).render({}), TemplateError)
    })

  it('works on long texts in linear time', () => {
    for (const source of ["('<' * 500000)|striptags", "('<!--' * 500000)|striptags", "('1' * 500000 ~ 'x')|float"])
      assert.notEqual(renderedSource(`{{ (${source})|string|length }}`, {}), null, source)
  })

  it('renders a conversation of four million characters', () => {
    const template = new JinjaTemplate(
      `{% for m in messages %}{{ '<' + m.role + '>' + m.content|trim + '</>' }}{% if '日' in m.content %}{{ m.content.split('</think>')[-1].strip()|length }}{% endif %}{% endfor %}`,
    )
    const messages = Array.from({length: 4000}, () => ({role: 'user', content: ' 日😀'.repeat(250)}))
    assert.equal(template.render({messages}).length, 4000 * ('<user></>'.length + 999 + '749'.length))
  })

  it('gives templates no access to objects of the host', () => {
    const names = ['constructor', '__proto__', 'prototype', 'toString', 'call', 'attribute', 'entries']
    for (const value of [
      'messages',
      'messages[0]',
      'text',
      'range',
      'namespace()',
      'loop',
      '1',
      'none',
      'nothing',
      'm',
    ])
      for (const name of names)
        for (const access of [`.${name}`, `['${name}']`, `|attr('${name}')`, `|map('${name}')`]) {
          const source = `{% macro m() %}{% endmacro %}{% for x in [1] %}{{ (${value}${access}) is defined }}{% endfor %}`
          const text = renderedSource(source, {messages: [{role: 'user'}], text: 'x'})
          assert.ok(text === 'False' || text === null || access.startsWith('|map'), `${source}: ${text}`)
        }
    assert.equal(
      renderedSource('{{ constructor is defined or toString is defined or process is defined }}', {}),
      'False',
    )
  })

  it('names the line of an error', () => {
    assert.throws(() => new JinjaTemplate('a\n{% if true %}\n'), /the block 'if' is not closed \(line 2\)/)
    assert.throws(() => new JinjaTemplate('a\n\n{{ x.y.z }}').render({x: {}}), /has no attribute 'y' \(line 3\)/)
    assert.throws(() => new JinjaTemplate("{% include 'x' %}"), /unknown statement 'include' \(line 1\)/)
  })
})
