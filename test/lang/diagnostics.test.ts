import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {diagnosticExplanations} from '../../src/lang/diagnostics/explanations.js'
import {asJson, checkProgram, formatSource, Lines, renderDiagnostics, severities} from '../../src/lang/index.js'

const task = '@table type Task { title: str, done: bool, tags: List[str], note: Option[str], n: int }\n'
const inTask = (body: string) => `${task}fn f() to Unit {\n    ${body}\n}\n`
const vector = '@table type Doc { e: List[float], t: str }\n'

/**
 * One program per code: `‹` and `›` enclose the reported span. Other diagnostics are allowed, but
 * none with this code at another position.
 */
const cases: Readonly<Record<keyof typeof severities, string>> = {
  'parse.unexpected_char': '‹$›\n',
  'parse.unterminated_string': 'fn f() to str { return ‹"open›\n}\n',
  'parse.block_comment': '‹/* no */›\nfn f() to Unit {}\n',
  'parse.int_range': 'fn f() to int { return ‹9007199254740992› }\n',
  'parse.unknown_escape': 'fn f() to str { return "a‹\\q›" }\n',
  'parse.unexpected_token': 'fn f() to int { return ‹)› }\n',
  'parse.expected_token': '@table type A { name ‹str› }\n',
  'parse.expected_newline': 'fn f() to Unit { let a = 1 ‹let› b = 2 }\n',
  'parse.too_deep': `fn f() to int { return ${'('.repeat(199)}‹(›${')'.repeat(200)} }\n`,
  'parse.endpoint_kind': '@endpoint(kind: ‹action›) fn f() to int { return 1 }\n',
  'parse.retired_decorator': '‹@query› fn f() to int { return 1 }\n',
  'parse.arrow_deprecated': 'fn f() ‹->› int { return 1 }\n',
  'parse.unsupported_declaration': '‹import› react\n',
  'parse.unsupported_decorator': '@endpoint(kind: query) ‹@auth›(x) fn f() to int { return 1 }\n',
  'parse.unsupported_operator': 'fn f() to bool { return true with ‹false› }\n',
  'typecheck.unknown_table': inTask('db.‹Tsk›.all()'),
  'typecheck.unknown_column': inTask('db.Task.filter({ ‹titel›: "a" })'),
  'typecheck.unknown_field': 'type P { x: int }\nfn f(p: P) to int { return p.‹y› }\n',
  'typecheck.unknown_type': 'fn f(p: ‹Poit›) to Unit {}\n',
  'typecheck.undefined': 'fn f() to int { return ‹missing› }\n',
  'typecheck.unknown_method': 'fn f() to int { return "a".‹lenn›() }\n',
  'typecheck.mismatch': 'fn f() to int { return ‹"a"› }\n',
  'typecheck.arg_mismatch': 'fn g(n: int) to int { return n }\nfn f() to int { return g(‹"a"›) }\n',
  'typecheck.arg_count': 'fn g() to int { return 1 }\nfn f() to int { return ‹g(1)› }\n',
  'typecheck.arg_name': 'fn g(n: int = 1) to int { return n }\nfn f() to int { return g(‹m› = 1) }\n',
  'typecheck.missing_column': inTask('db.Task.insert(‹{› title: "a" })'),
  'typecheck.insert_id': inTask('db.Task.insert({ ‹_id›: 1, title: "a", done: true, tags: [], n: 1 })'),
  'typecheck.duplicate_field': inTask('db.Task.filter({ title: "a", ‹title›: "b" })'),
  'typecheck.missing_field': 'type P { x: int }\nfn f() to P { return ‹{›} }\n',
  'typecheck.predicate_shape': inTask('db.Task.filter({ n: ‹{ gt: 2 }› })'),
  'typecheck.predicate_operator': inTask('db.Task.where({ n: { ‹contains›: 2 } })'),
  'typecheck.predicate_operator_unknown': inTask('db.Task.where({ n: { ‹ne›: 2 } })'),
  'typecheck.in_empty': inTask('db.Task.where({ n: { in: ‹[]› } })'),
  'typecheck.order_direction': inTask('db.Task.all().order_by(n, ‹up›)'),
  'typecheck.limit_negative': inTask('db.Task.all().limit(‹-1›)'),
  'typecheck.select_empty': inTask('db.Task.all().‹select›()'),
  'typecheck.duplicate_modifier': inTask('db.Task.all().limit(1).‹limit›(2)'),
  'typecheck.modifier': inTask('db.Task.get(1).‹limit›(1)'),
  'typecheck.count_modifier': inTask('db.Task.all().limit(1).‹count›()'),
  'typecheck.upsert_key':
    '@table type A { x: int, y: int }\n@index A.x on (x) unique\n@index A.y on (y) unique\nfn f() to Unit { db.A.‹upsert›({ x: 1, y: 1 }) }\n',
  'typecheck.group_shape': inTask('print(db.Task.group_by(done).aggregate({ x: ‹n› }))'),
  'typecheck.include_shape': inTask('print(db.Task.include({ x: ‹n› }))'),
  'lint.include_index': `@table type Step { task: Id[Task] }\n${inTask('print(db.Task.include({ steps: ‹Step.task› }))')}`,
  'typecheck.retrieval_mode': inTask('db.Task.all().using(‹bm25›)'),
  'typecheck.hint_constant': inTask('let t = "a"\n    db.Task.all().live(‹t›)'),
  'typecheck.column_constant': inTask('db.Task.all().order_by(‹1 + 1›)'),
  'typecheck.column_not_selected': inTask('print(db.Task.all().select(n)[0].‹title›)'),
  'typecheck.table_handle': inTask('let t = db.‹Task›'),
  'typecheck.reserved_column': '@table type A { ‹_x›: int }\n',
  'typecheck.duplicate_column': '@table type A { x: int, ‹X›: int }\n',
  'typecheck.table_name': '@table type ‹task› { x: int }\n',
  'typecheck.duplicate_table_name': '@table type HTTPLog { n: int }\n@table type ‹HttpLog› { n: int }\n',
  'typecheck.column_type': '@table type A { x: ‹Result[int]› }\n',
  'typecheck.on_delete': '@table type A { x: int on delete ‹cascade› }\n',
  'typecheck.condition': '@table type A { x: str check(‹x.trim() is ""›) }\n',
  'typecheck.stamp': '@table type A { x: int @updated_at }\n@test fn f() { db.A.insert({ ‹x›: 1 }) }\n',
  'typecheck.was': '@table type A { x: int, y: int was ‹x› }\n',
  'typecheck.type_arity': '@table type A { x: ‹List› }\n',
  'typecheck.duplicate_name': 'fn f() to Unit {}\nfn ‹f›() to Unit {}\n',
  'typecheck.constant': 'const n = ‹len("a")›\nfn f() to int { return n }\n',
  'typecheck.duplicate_route': 'http get "/a/{x}" to Unit {}\nhttp get ‹"/a/{y}"› to Unit {}\n',
  'typecheck.route_path': 'http get ‹"a"› to Unit {}\n',
  'typecheck.param_type': '@endpoint(kind: query) fn f(‹x›) to int { return 1 }\n',
  'typecheck.missing_return': 'fn ‹f›(n: int) to int { if n > 0 { return 1 } }\n',
  'typecheck.immutable': 'fn f() to Unit {\n    let n = 1\n    ‹n› = 2\n}\n',
  'typecheck.assign_target': 'type P { x: int }\nfn f(p: P) to Unit { ‹p.x› = 2 }\n',
  'typecheck.operator': 'fn f() to int { return ‹1 + true› }\n',
  'typecheck.try_context': 'fn f(o: Option[int]) to int { return o‹?› }\n',
  'typecheck.try_operand': 'fn f() to Option[int] { return Some(‹5›?) }\n',
  'typecheck.pattern': 'fn f(o: Option[int]) to int {\n    let ‹Some(n)› = o\n    return n\n}\n',
  'typecheck.null': 'fn f() to Option[int] { return ‹null› }\n',
  'typecheck.not_callable': 'fn f() to int {\n    let n = 1\n    return ‹n›()\n}\n',
  'typecheck.not_iterable': 'fn f() to Unit { for x in ‹1› {} }\n',
  'typecheck.not_indexable': 'fn f() to int { return ‹true›[0] }\n',
  'typecheck.match_not_exhaustive': 'fn f(o: Option[int]) to int {\n    return ‹match› o { Some(n) => n }\n}\n',
  'lint.query_not_readonly': `${task}fn wipe() to bool { return db.Task.delete(1) }\n@endpoint(kind: query) fn f() to bool { return ‹wipe›() }\n`,
  'lint.unsafe_query_raw_clause': inTask('db.Task.‹query›("1")'),
  'lint.table_id_column': '@table type A { ‹id›: int }\n',
  'lint.index_unknown_table': '@index ‹A›.i on (x)\n',
  'lint.index_unknown_column': `${task}@index Task.i on (‹x›)\n`,
  'lint.index_column_type': `${task}@index Task.i on (‹tags›)\n`,
  'lint.index_no_columns': `${task}@index Task.‹i› on ()\n`,
  'lint.search_index_unknown_table': '@search_index ‹A›.i on (x)\n',
  'lint.search_index_not_table': 'type A { x: str }\n@search_index ‹A›.i on (x)\n',
  'lint.search_index_unknown_field': `${task}@search_index Task.i on (‹x›)\n`,
  'lint.search_index_field_type': `${task}@search_index Task.i on (‹n›)\n`,
  'lint.vector_index_field_type': `${vector}@vector_index Doc.i on (‹t›) { dimensions: 2 }\n`,
  'lint.db_query_root': inTask('db.‹query›(Task)'),
  'lint.text_interpolation': 'fn f(n: int) to str { return ‹"a {n}"› }\n',
  'lint.empty_filter': inTask('db.Task.filter(‹{}›)'),
  'lint.is_null_never': inTask('db.Task.where({ n: { ‹is_null›: true } })'),
  'lint.search_words': `@table type A { t: str }\n@search_index A.i on (t)\nfn f() to List[A] { return db.A.where({ t: { matches: ‹"東京"› } }) }\n`,
  'lint.http_get_writes': `${task}http get ‹"/x"› to bool { return db.Task.delete(1) }\n`,
  'lint.query_random':
    'fn g() to int { return std.random.int(1, 2) }\n@endpoint(kind: query) fn f() to int { return ‹g›() }\n',
  'lint.speech_in_mutation':
    '@endpoint(kind: mutation) fn f(p: str) to Result[str] { return ‹Speech.transcribe›(p) }\n',
}

describe('a program with a diagnostic', () => {
  for (const [code, marked] of Object.entries(cases))
    it(code, () => {
      const start = marked.indexOf('‹')
      const end = marked.indexOf('›') - 1
      const found = checkProgram(marked.replace(/[‹›]/g, '')).diagnostics.filter((one) => one.code === code)
      assert.deepEqual(
        found.map((one) => [one.start, one.end]),
        [[start, end]],
      )
      assert.equal(found[0]?.severity, severities[code as keyof typeof severities])
    })
})

describe('the explanation of a diagnostic', () => {
  for (const [code, {cause, fix, example, fixed}] of Object.entries(diagnosticExplanations))
    it(`${code} has an example with only this code, and a fixed program without diagnostics`, () => {
      assert.deepEqual(new Set(checkProgram(example).diagnostics.map((found) => found.code)), new Set([code]))
      assert.deepEqual(checkProgram(fixed).diagnostics, [])
      assert.equal(formatSource(fixed), fixed)
      for (const sentence of [cause, fix]) assert.match(sentence, /^[A-Za-z@?].*\.$/)
    })
})

describe('a diagnostic', () => {
  const source = `${task}fn f() to Unit {\n\tdb.Task.filter({ titel: "a" })\n}\n`
  const [found] = checkProgram(source).diagnostics

  it('shows the line with a caret, the most similar name and a fix', () => {
    assert.ok(found !== undefined)
    assert.equal(
      renderDiagnostics([found], 'src/main.svc', source),
      `error[typecheck.unknown_column]: Table 'Task' has no column 'titel'. Did you mean 'title'?
 --> src/main.svc:3:19
  |
3 |     db.Task.filter({ titel: "a" })
  |                      ^^^^^
  = help: Columns of Task: title, done, tags, note, n
  = fix: Use title
`,
    )
  })

  it('suggests the word for a name of another language, and for a name with swapped letters', () => {
    const textOf = (program: string) => {
      const [first] = checkProgram(program).diagnostics
      return [first?.message ?? '', ...(first?.hints ?? [])].join(' ')
    }
    assert.match(textOf('fn f(p: string) to int { return 1 }\n'), /^Unknown type 'string'\. Did you mean 'str'\?$/)
    assert.match(textOf('type P { name: str }\nfn f(p: P) to str { return p.nmae }\n'), /Did you mean 'name'\?/)
    assert.match(textOf('fn f(p: bool) to bool { return p && p }\n'), /Write and instead of &&\./)
    assert.match(textOf('fn f() to str { return `a` }\n'), /Write text in double quotes/)
  })

  it('has a JSON form with lines and columns from 1', () => {
    assert.ok(found !== undefined)
    const json = asJson(found, 'src/main.svc', new Lines(source))
    assert.deepEqual(json.span, {start_line: 3, start_col: 19, end_line: 3, end_col: 24})
    assert.equal(json.category, 'typecheck')
  })

  it('neither counts nor shows a byte order mark', () => {
    const lines = new Lines('\uFEFFfn a\r\nfn b\n')
    assert.deepEqual([lines.text(1), lines.text(2)], ['fn a', 'fn b'])
    assert.deepEqual(
      [lines.at(0), lines.at(1), lines.at(4)].map(({col}) => col),
      [1, 1, 4],
    )
  })

  it('is reported at the later of two routes of any kind', () => {
    const sources = [
      'http get "/api/query/f" to int { return 1 }\n@endpoint(kind: query) fn f() to int { return 2 }\n',
      '@endpoint(kind: query) fn f() to int { return 2 }\nhttp get "/api/query/f" to int { return 1 }\n',
    ]
    for (const source of sources) {
      const [found] = checkProgram(source).diagnostics.filter(({code}) => code === 'typecheck.duplicate_route')
      assert.equal(new Lines(source).at(found?.start ?? 0).line, 2)
    }
  })

  it('points to the declaration of a type that cannot have a text or vector index', () => {
    for (const type of ['type A { x: str }', 'type A = | B | C'])
      for (const index of ['@search_index A.i on (x)', '@vector_index A.i on (x) { dimensions: 2 }']) {
        const [found, ...others] = checkProgram(`${type}\n${index}\n`).diagnostics
        assert.deepEqual([found?.code, others.length], ['lint.search_index_not_table', 0])
        assert.deepEqual(
          found?.related?.map(({start, message}) => [start, message]),
          [[type.indexOf('A'), 'declared here']],
        )
      }
  })

  it('points to the brace that is not closed', () => {
    const [found] = checkProgram('fn f() to Unit {\n    if true {\n        print(1)\n}\n').diagnostics
    assert.equal(found?.code, 'parse.expected_token')
    assert.deepEqual(found.related, [{start: 15, end: 16, message: 'opened here'}])
  })

  it('is not repeated for an index on a column of an unknown type', () => {
    for (const index of ['@index A.i on (x)', '@search_index A.i on (x)'])
      assert.deepEqual(
        checkProgram(`@table type A { x: Id[B] }\n${index}\n`).diagnostics.map(({code}) => code),
        ['typecheck.unknown_table'],
      )
  })

  it('shows the calls by which a query reaches a write', () => {
    const chain = `${task}fn a() to bool { return b() }
fn b() to bool { return db.Task.delete(1) }
@endpoint(kind: query) fn q() to bool { return a() }
`
    const [lint] = checkProgram(chain).diagnostics
    assert.match(lint?.message ?? '', /a\(\) -> b\(\) reaches db\.Task\.delete\(\)/)
  })

  it('counts columns in UTF-16 units and aligns the caret on screen', () => {
    const wide = 'fn f() to str { return "日本" + missing }\n'
    const [undefinedName] = checkProgram(wide).diagnostics
    assert.ok(undefinedName !== undefined)
    const [, , , line = '', caret = ''] = renderDiagnostics([undefinedName], 'a.svc', wide).split('\n')
    assert.equal(line, '1 | fn f() to str { return "日本" + missing }')
    // Each of the two characters occupies two terminal columns.
    assert.equal(caret.indexOf('^'), line.indexOf('missing') + 2)
  })
})
