import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {
  createMessageConnection,
  ErrorCodes,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node'
import type {
  CodeAction,
  CompletionItem,
  Diagnostic,
  DocumentSymbol,
  Hover,
  InitializeResult,
  Location,
  Position,
  PublishDiagnosticsParams,
  TextEdit,
} from 'vscode-languageserver'
import {TextDocument} from 'vscode-languageserver-textdocument'
import {startSvc} from '../support/svc.js'

/** Marks the cursor in a source. */
const cursor = '§'

/** Timeout for published diagnostics, ms. */
const patience = 120_000

/** An editor with its own server process, the real binary. */
class Editor {
  readonly process = startSvc(['lsp', '--stdio'])
  readonly connection: MessageConnection
  readonly #published = new Map<string, PublishDiagnosticsParams[]>()
  #opened = 0

  constructor() {
    const {stdout, stdin} = this.process
    assert.ok(stdout && stdin)
    this.connection = createMessageConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin))
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.#published.set(params.uri, [...(this.#published.get(params.uri) ?? []), params])
    })
    this.connection.listen()
  }

  async start(): Promise<InitializeResult> {
    const started: InitializeResult = await this.connection.sendRequest('initialize', {
      processId: process.pid,
      rootUri: null,
      capabilities: {},
    })
    await this.connection.sendNotification('initialized', {})
    return started
  }

  /** Opens a document; removes a cursor mark from its text and records its position. */
  async open(marked: string): Promise<OpenDocument> {
    const at = marked.indexOf(cursor)
    const document = TextDocument.create(`file:///work/${++this.#opened}.svc`, 'svc', 1, marked.replace(cursor, ''))
    const {uri, version} = document
    await this.connection.sendNotification('textDocument/didOpen', {
      textDocument: {uri, languageId: 'svc', version, text: document.getText()},
    })
    return new OpenDocument(this, document, document.positionAt(Math.max(0, at)))
  }

  /** Waits for the diagnostics of a document version. */
  async published(uri: string, isMeant: (params: PublishDiagnosticsParams) => boolean): Promise<Diagnostic[]> {
    for (const end = performance.now() + patience; performance.now() < end; ) {
      const found = this.#published.get(uri)?.find(isMeant)
      if (found !== undefined) return found.diagnostics
      await sleep(20)
    }
    assert.fail(`nothing was published about ${uri}`)
  }

  timesPublished(uri: string): number {
    return this.#published.get(uri)?.length ?? 0
  }

  async stop(): Promise<number | undefined> {
    await this.connection.sendRequest('shutdown')
    await this.connection.sendNotification('exit')
    return (await this.process).exitCode
  }
}

class OpenDocument {
  readonly #editor: Editor
  readonly #document: TextDocument
  readonly #position: Position

  constructor(editor: Editor, document: TextDocument, position: Position) {
    this.#editor = editor
    this.#document = document
    this.#position = position
  }

  get uri(): string {
    return this.#document.uri
  }

  get text(): string {
    return this.#document.getText()
  }

  get version(): number {
    return this.#document.version
  }

  /** Replaces text like a typing user: sends only the change. */
  async replace(before: string, after: string): Promise<void> {
    const start = this.text.indexOf(before)
    assert.notEqual(start, -1, `no ${before}`)
    const range = {start: this.#document.positionAt(start), end: this.#document.positionAt(start + before.length)}
    const version = this.#document.version + 1
    TextDocument.update(this.#document, [{range, text: after}], version)
    await this.#editor.connection.sendNotification('textDocument/didChange', {
      textDocument: {uri: this.uri, version},
      contentChanges: [{range, text: after}],
    })
  }

  async close(): Promise<void> {
    await this.#editor.connection.sendNotification('textDocument/didClose', {textDocument: {uri: this.uri}})
  }

  /** The diagnostics of the current document version. */
  diagnostics(): Promise<Diagnostic[]> {
    return this.#editor.published(this.uri, ({version}) => version === this.#document.version)
  }

  ask<R>(what: string, more: object = {}): Promise<R> {
    const params = {textDocument: {uri: this.uri}, position: this.#position, ...more}
    return this.#editor.connection.sendRequest(`textDocument/${what}`, params)
  }

  fixes({range, ...diagnostic}: Diagnostic, only?: string[]): Promise<CodeAction[]> {
    const context = {diagnostics: [{range, ...diagnostic}], ...(only === undefined ? {} : {only})}
    return this.ask('codeAction', {range, context})
  }

  /** The text with edits applied. */
  after(edits: readonly TextEdit[]): string {
    return TextDocument.applyEdits(this.#document, [...edits])
  }

  /** The text of a range. */
  within(range: Diagnostic['range']): string {
    return this.#document.getText(range)
  }
}

const library = `/// A book on the shelf.
@table type Book {
    title: str
    pages: int
    note: Option[str]
}

@index Book.by_title on (title)

type Genre =
    | Crime
    | Poetry(metre: str)

type Summary { count: int }

/// The books with a title.
@endpoint(kind: query) fn titled(title: str) to List[Book] {
    let found = db.Book.filter({ title: title })
    return found
}

http get "/books/{id}" (id: int) to Option[Book] {
    return db.Book.get(id)
}

fn shelf(genre: Genre) to str {
    return match genre {
        Crime => "noir"
        Poetry(metre) => metre
    }
}

@test fn finds_nothing() {
    assert(titled("none").len() is 0)
}
`

describe('an editor with a language server', () => {
  const editor = new Editor()
  let started: InitializeResult
  before(async () => {
    started = await editor.start()
  })
  after(() => editor.stop())

  it('receives the server name, version and capabilities', () => {
    assert.match(started.serverInfo?.version ?? '', /^\d+\.\d+\.\d+/)
    assert.equal(started.serverInfo?.name, 'svc')
    const {hoverProvider, definitionProvider, documentFormattingProvider} = started.capabilities
    assert.deepEqual([hoverProvider, definitionProvider, documentFormattingProvider], [true, true, true])
  })

  describe('with an open program that misspells a column', () => {
    const wrong = library.replace('filter({ title:', 'filter({ tittle:')

    it('underlines the column, and shows the error and the suggestion', async () => {
      const document = await editor.open(wrong)
      const [found, ...others] = await document.diagnostics()
      assert.ok(found)
      assert.deepEqual(others, [])
      assert.equal(document.within(found.range), 'tittle')
      assert.deepEqual([found.code, found.severity, found.source], ['typecheck.unknown_column', 1, 'svc'])
      assert.match(found.message as string, /^Table 'Book' has no column 'tittle'\. Did you mean 'title'\?$/m)
      assert.match(found.message as string, /^Columns of Book: title, pages, note$/m)
    })

    it('offers the correct column as a fix, which resolves the error', async () => {
      const document = await editor.open(wrong)
      const [found] = await document.diagnostics()
      assert.ok(found)
      const [fix, ...others] = await document.fixes(found)
      assert.deepEqual(others, [])
      assert.equal(fix?.title, 'Use title')
      assert.equal(fix.kind, 'quickfix')
      assert.deepEqual(fix.diagnostics, [found])
      const fixed = await editor.open(document.after(fix.edit?.changes?.[document.uri] ?? []))
      assert.equal(fixed.text, library)
      assert.deepEqual(await fixed.diagnostics(), [])
    })

    it('offers no fix outside the error or for other kinds of actions', async () => {
      const document = await editor.open(wrong)
      const [found] = await document.diagnostics()
      assert.ok(found)
      const start = {line: 0, character: 0}
      assert.deepEqual(await document.fixes({...found, range: {start, end: start}}), [])
      assert.deepEqual(await document.fixes(found, ['refactor']), [])
      assert.equal((await document.fixes(found, [''])).length, 1)
    })

    it('removes the underline when the column is corrected, and restores it', async () => {
      const document = await editor.open(wrong)
      assert.equal((await document.diagnostics()).length, 1)
      await document.replace('tittle', 'title')
      assert.deepEqual(await document.diagnostics(), [])
      await document.replace('{ title: title }', '{ titles: title }')
      assert.equal((await document.diagnostics()).length, 1)
    })

    it('waits for a pause in typing', async () => {
      const document = await editor.open(wrong)
      let key = '{ tittle:'
      for (const typed of ['{ tittl:', '{ titt:', '{ tit:', '{ titl:', '{ title:']) {
        await document.replace(key, typed)
        key = typed
      }
      assert.deepEqual(await document.diagnostics(), [])
      assert.ok(editor.timesPublished(document.uri) < document.version)
    })

    it('clears the diagnostics when the document is closed', async () => {
      const document = await editor.open(wrong)
      assert.equal((await document.diagnostics()).length, 1)
      await document.close()
      assert.deepEqual(await editor.published(document.uri, ({version}) => version === undefined), [])
      assert.equal(await document.ask<Hover | null>('hover'), null)
    })
  })

  describe('with an open program that has other diagnostics', () => {
    it('shows a warning with a fix', async () => {
      const document = await editor.open('fn one() -> int {\n    return 1\n}\n')
      const [found] = await document.diagnostics()
      assert.ok(found)
      assert.deepEqual([found.code, found.severity], ['parse.arrow_deprecated', 2])
      const [fix] = await document.fixes(found)
      assert.match(document.after(fix?.edit?.changes?.[document.uri] ?? []), /^fn one\(\) to int \{/)
    })

    it('links to the related location of an error', async () => {
      const document = await editor.open('type A { x: int }\n\ntype A { y: int }\n')
      const [found] = await document.diagnostics()
      const [related] = found?.relatedInformation ?? []
      assert.ok(related)
      assert.deepEqual([related.message, related.location.uri], ['first declared', document.uri])
      assert.deepEqual(related.location.range.start, {line: 0, character: 5})
    })

    it('computes positions after characters of every width and any line end', async () => {
      const document = await editor.open('// 🙂 é\r\nfn f() to str {\r\n    return "🙂" + nope\r\n}\r\n')
      const [found] = await document.diagnostics()
      assert.ok(found)
      assert.equal(document.within(found.range), 'nope')
      assert.equal(found.range.start.character, 18)
    })
  })

  describe('hovering over a name', () => {
    const hovered = async (source: string) => {
      const document = await editor.open(source)
      const found = await document.ask<{contents: {kind: string; value: string}; range: Diagnostic['range']} | null>(
        'hover',
      )
      return found && {...found.contents, over: document.within(found.range)}
    }

    it('shows the columns of a table and its documentation', async () => {
      const found = await hovered(library.replace('db.Book.filter', 'db.Bo§ok.filter'))
      assert.deepEqual(found, {
        kind: 'markdown',
        value:
          '```svc\n@table type Book {\n    title: str\n    pages: int\n    note: Option[str]\n}\n```\n\nA book on the shelf.',
        over: 'Book',
      })
    })

    it('shows the signature of a function and its documentation', async () => {
      const found = await hovered(library.replace('assert(titled', 'assert(titled§'))
      assert.equal(found?.value, '```svc\nfn titled(title: str) to List[Book]\n```\n\nThe books with a title.')
    })

    const labels: readonly [name: string, marked: [string, string], label: string][] = [
      ['variable', ['return found', 'return §found'], 'found: List[Book]'],
      ['parameter', ['title: title }', 'title: §title }'], 'title: str'],
      ['column', ['{ title: title', '{ §title: title'], 'Book.title: str'],
      ['sum type', ['genre: Genre', 'genre: §Genre'], 'type Genre =\n    | Crime\n    | Poetry(metre: str)'],
      ['record', ['type Summary', 'type §Summary'], 'type Summary {\n    count: int\n}'],
      ['operation', ['Book.get', 'Book.§get'], 'db.Book.get'],
    ]
    for (const [name, [plain, marked], label] of labels)
      it(`shows the declaration of a ${name}`, async () =>
        assert.equal((await hovered(library.replace(plain, marked)))?.value, `\`\`\`svc\n${label}\n\`\`\``))

    it('shows nothing over a keyword or outside a document', async () => {
      assert.equal(await hovered(library.replace('return found', 're§turn found')), null)
      const document = await editor.open(library)
      assert.equal(await document.ask('hover', {position: {line: 900, character: 900}}), null)
      assert.equal(await document.ask('hover', {textDocument: {uri: 'file:///nowhere.svc'}}), null)
    })
  })

  describe('requesting a definition', () => {
    const declared = async (source: string) => {
      const document = await editor.open(source)
      const found = await document.ask<Location | null>('definition')
      return found && [found.range.start.line, document.within(found.range)]
    }

    it('goes to the table, the column, the function, the variable and the variant', async () => {
      assert.deepEqual(await declared(library.replace('db.Book.filter', 'db.§Book.filter')), [1, 'Book'])
      assert.deepEqual(await declared(library.replace('on (title)', 'on (§title)')), [2, 'title'])
      assert.deepEqual(await declared(library.replace('assert(titled', 'assert(§titled')), [16, 'titled'])
      assert.deepEqual(await declared(library.replace('return found', 'return fo§und')), [17, 'found'])
      assert.deepEqual(await declared(library.replace('Crime =>', 'Cri§me =>')), [10, 'Crime'])
    })

    it('finds no definition of built-ins', async () =>
      assert.equal(await declared(library.replace('.filter(', '.§filter(')), null))
  })

  describe('requesting document symbols', () => {
    it('shows tables with columns, types, functions and routes in source order', async () => {
      const document = await editor.open(library)
      const symbols = await document.ask<DocumentSymbol[]>('documentSymbol')
      assert.deepEqual(
        symbols.map(({name, children = []}) => [name, children.map((child) => child.name)]),
        [
          ['Book', ['title', 'pages', 'note']],
          ['Genre', ['Crime', 'Poetry']],
          ['Summary', ['count']],
          ['titled', []],
          ['GET /books/{id}', []],
          ['shelf', []],
          ['finds_nothing', []],
        ],
      )
      const details = symbols.map(({detail}) => detail)
      assert.deepEqual(details.slice(3), [
        'GET /api/query/titled',
        'http get "/books/{id}" (id: int) to Option[Book]',
        'fn shelf(genre: Genre) to str',
        'test',
      ])
    })

    it('receives the range of each symbol', async () => {
      const document = await editor.open(library)
      const [book, genre, summary] = await document.ask<DocumentSymbol[]>('documentSymbol')
      assert.ok(book && genre && summary)
      assert.match(document.within(book.range), /^@table type Book \{[^}]*\}$/)
      assert.match(document.within(genre.range), /^type Genre =[^}]*Poetry\(metre: str\)$/)
      assert.equal(document.within(summary.range), 'type Summary { count: int }')
      assert.equal(document.within(summary.selectionRange), 'Summary')
    })
  })

  describe('formatting a document', () => {
    const format = (document: OpenDocument) =>
      document.ask<TextEdit[] | null>('formatting', {options: {tabSize: 4, insertSpaces: true}})

    it('applies the standard spacing, and is idempotent', async () => {
      const document = await editor.open('@table type Book {\n  title :str\n}\nfn f( )to int {\nreturn 1+1\n}\n')
      const edits = await format(document)
      assert.ok(edits)
      const formatted = document.after(edits)
      assert.equal(formatted, '@table type Book {\n    title: str\n}\nfn f() to int {\n    return 1 + 1\n}\n')
      assert.deepEqual(await format(await editor.open(formatted)), [])
      const [edit] = edits
      assert.equal(edit?.range.start.line, 1, 'what is right at the start stays alone')
    })

    it('preserves the line ends of the document', async () => {
      const document = await editor.open('fn f() to int {\r\n// one\r\nreturn  1\r\n}\r\n')
      const formatted = document.after((await format(document)) ?? [])
      assert.equal(formatted, 'fn f() to int {\r\n    // one\r\n    return 1\r\n}\r\n')
      assert.deepEqual(await format(await editor.open(formatted)), [])
    })

    it('does not format a document with syntax errors', async () =>
      assert.equal(await format(await editor.open('fn f( {\n')), null))
  })

  describe('requesting completions', () => {
    const tables = `
@table type Book { title: str, pages: int, note: Option[str] }
@table type Reader { name: str, books: List[Id[Book]] }
type Genre = | Crime | Poetry(metre: str)
type Summary { count: int, words: int }
/// Twice as much.
fn twice(n: int) to int { return n * 2 }
`
    const proposed = async (source: string) => {
      const document = await editor.open(source)
      return (await document.ask<CompletionItem[] | null>('completion')) ?? []
    }
    const names = async (source: string) => (await proposed(source)).map(({label}) => label)
    /** Completes after the declarations and again before them, where the unfinished code precedes them. */
    const inBody = async (body: string, more = '') => {
      const alone = `fn f(limit: int) to int {\n    let rest = 1\n    ${body}`
      const found = await names(`${tables}\n${more}\n${alone}`)
      const above = await names(`${alone}\n${tables}\n${more}`)
      assert.deepEqual(above.sort(), [...found].sort(), 'before the declarations')
      return found
    }
    const conditions = ['title', 'pages', 'note', '_id']
    const joined = [...conditions, 'and', 'or', 'not']

    const exactly: readonly [where: string, body: string, expected: readonly string[]][] = [
      ['the tables after db.', 'db.§', ['Book', 'Reader']],
      ['the tables after db. and a letter', 'let a = db.B§', ['Book', 'Reader']],
      ['nothing after an unknown table', 'db.Nope.§', []],
      ['the columns in insert', 'db.Book.insert({ §', ['title', 'pages', 'note']],
      ['the remaining columns in insert', 'db.Book.insert({ title: "a", pa§', ['pages', 'note']],
      ['the columns in filter', 'return db.Book.filter({§', conditions],
      ['the columns in filter of the right table', 'db.Reader.filter({§ })', ['name', 'books', '_id']],
      ['the columns in update', 'db.Book.update(1, { §', ['title', 'pages', 'note']],
      ['the columns and connectives in where', 'db.Book.where({ §', joined],
      ['the same inside not', 'db.Book.where({ not: { §', joined],
      ['the same in each part of or', 'db.Book.where({ pages: 1, or: [{ title: "a" }, { §', joined],
      ['the fields of a record', 'return Summary { count: 1, §', ['words']],
      ['the fields of a variant', 'let p = Poetry { §', ['metre']],
      ['the columns in order_by', 'db.Book.all()\n        .order_by(§', conditions],
      ['the directions in order_by', 'db.Book.all().order_by(title, §', ['asc', 'desc']],
      ['the columns in select', 'db.Book.all().select(title, §', conditions],
      ['the columns in a list in select', 'db.Book.all().select([§', conditions],
      ['the modes of using', 'db.Book.all().using(§', ['fts', 'vector', 'hybrid']],
      ['the parts of a namespace', 'std.§', ['time', 'math', 'crypto', 'random', 'regex', 'json', 'env', 'log']],
      ['the functions of a namespace', 'let t = std.time.§', ['now_ms']],
      ['the functions of a type', 'let t = Date.§', ['today', 'of', 'parse']],
      ['no names after let', 'let §', []],
      ['nothing in a string', 'let a = "db.§', []],
      ['nothing in a comment', '// db.§', []],
      ['nothing in a number', 'let a = 12§', []],
      ['nothing after a value that is not a table', 'let a = rest.§', []],
    ]
    for (const [where, body, expected] of exactly)
      it(`gets ${where}`, async () => assert.deepEqual(await inBody(body), expected))

    it('gets the operations after a table', async () => {
      const found = await inBody('return db.Book.§')
      assert.deepEqual(found, 'insert get find all filter where count exists order_by update delete'.split(' '))
    })

    it('gets upsert only for a table with a unique index', async () => {
      const unique = '@index Book.by_title on (title) unique'
      assert.ok((await inBody('return db.Book.§', unique)).includes('upsert'))
    })

    it('gets the operators for a column in where', async () => {
      const found = await inBody('db.Book.where({ pages: { §')
      assert.deepEqual(found.slice(0, 8), ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'between', 'in'])
      assert.ok(!(await inBody('db.Book.where({ pages: { gte: 1, §')).includes('gte'))
      const shelf = 'type Spot { room: str, row: int }\n@table type Shelf { spot: Option[Spot], first: Id[Book] }'
      const below = async (path: string) => (await inBody(`db.Shelf.where({ ${path} {  §`, shelf)).slice(0, 3)
      assert.deepEqual(await below('spot:'), ['room', 'row', 'eq'])
      assert.deepEqual(await below('spot: { row:'), ['eq', 'neq', 'lt'])
      assert.deepEqual(await below('first:'), ['title', 'pages', 'note'])
    })

    it('gets the modifiers after an operation, and the methods of its result', async () => {
      const found = await inBody('db.Book.where({ pages: { gt: 1 } })\n        .§')
      const expected =
        'order_by limit offset select count exists update delete sum avg min max distinct group_by'.split(' ')
      assert.deepEqual(found.slice(0, expected.length), expected)
      assert.ok(found.includes('map') && found.includes('len'))
    })

    it('gets only the modifiers that can still follow', async () => {
      const shaped = await inBody('db.Book.all().order_by(title).limit(3).§')
      assert.ok(shaped.includes('order_by') && shaped.includes('select'))
      assert.ok(!shaped.includes('limit') && !shaped.includes('count'))
      const one = await inBody('db.Book.get(1).§')
      assert.deepEqual(one.slice(0, 4), ['sync', 'using', 'live', 'scope'])
      assert.ok(one.includes('unwrap_or') && !one.includes('limit'))
      assert.deepEqual(await inBody('db.Book.insert({}).§'), [])
      assert.deepEqual(await inBody('db.Book.all().count().§'), ['sync', 'using', 'live', 'scope'])
    })

    /** Whether the checker reports one of the given codes for a program. */
    const refuses = async (source: string, codes: readonly string[]) => {
      const document = await editor.open(`${tables}\n${source}\n`)
      return (await document.diagnostics()).some(({code}) => codes.includes(String(code)))
    }
    const refused = async (
      proposals: readonly string[],
      source: (name: string) => string,
      codes: readonly string[],
    ) => {
      const answers = await Promise.all(proposals.map((name) => refuses(source(name), codes)))
      return proposals.filter((_, i) => answers[i])
    }

    for (const chain of ['db.Book.§', 'db.Book.all().§', 'db.Book.get(1).§'])
      it(`gets no unknown names: ${chain}`, async () => {
        const found = await inBody(chain)
        const source = (name: string) => `fn f() { ${chain.replace(cursor, `${name}()`)} }`
        assert.deepEqual(await refused(found, source, ['typecheck.unknown_method', 'typecheck.modifier']), [])
      })

    it('gets no unknown operators', async () => {
      const found = await inBody('db.Book.where({ pages: { §')
      const source = (name: string) => `fn f() { db.Book.where({ pages: { ${name}: 1 } }) }`
      assert.deepEqual(await refused(found, source, ['typecheck.predicate_operator_unknown']), [])
      assert.deepEqual(await refused(['most'], source, ['typecheck.predicate_operator_unknown']), ['most'])
    })

    describe('in an expression', () => {
      it('gets variables, functions, variants and keywords', async () => {
        const found = await inBody('return §')
        const expected = [
          'rest',
          'limit',
          'db',
          'f',
          'twice',
          'Crime',
          'Poetry',
          'Summary',
          'Some',
          'None',
          'len',
          'std',
          'match',
        ]
        assert.deepEqual(
          expected.filter((name) => !found.includes(name)),
          [],
        )
        assert.deepEqual(found.slice(0, 2), ['rest', 'limit'])
      })

      for (const body of [
        'twice(§',
        'let a = 1 + §',
        'if §',
        'match limit {\n 1 => §',
        'let r = { a: §',
        'db.Book.insert({ pages: §',
      ])
        it(`gets the same after ${body.replaceAll('\n', '')}`, async () => {
          const found = await inBody(body)
          assert.ok(found.includes('limit') && found.includes('twice') && found.includes('Crime'))
        })

      it('gets the request and the path parameters of a route', async () => {
        const found = await names(`http get "/books/{id}" (full: bool) to str {\n    return §`)
        assert.deepEqual(found.slice(0, 3).sort(), ['full', 'id', 'request'])
      })

      it('gets no variables of other functions', async () => assert.ok(!(await inBody('return §')).includes('n')))
    })

    describe('at the position of a type', () => {
      const places = [
        'fn f(a: §',
        'fn f(a: int, b: O§',
        'fn f() to §',
        'fn f(a: List[§',
        'fn f(a: Map[str, §',
        'fn f(a: fn(§',
        'fn f(a: (int, §',
        'type T { a: §',
        'type T = | A(x: §',
        '@table type T {\n    a: str\n    b: §',
        'http get "/t" to §',
        'fn f() {\n    let a: §',
      ]
      for (const place of places)
        it(`gets type names: ${place.replaceAll('\n', '')}`, async () => {
          const found = (await names(`${tables}\n${place}`)).filter((name) => name !== 'T')
          assert.deepEqual(found.slice(0, 5), ['Book', 'Reader', 'Summary', 'Genre', 'int'])
          assert.ok(found.includes('Option') && !found.includes('twice'))
        })

      it('gets only tables for an Id', async () =>
        assert.deepEqual(await names(`${tables}\nfn f(id: Id[§`), ['Book', 'Reader']))

      it('gets no completions for the name of a field or parameter', async () => {
        assert.deepEqual(await names(`${tables}\ntype T { §`), [])
        assert.deepEqual(await names(`${tables}\nfn f(a: int, §`), [])
      })

      it('gets what can follow the type of a column', async () => {
        const parts = ['unique', 'check', 'on', 'was', '@created_at', '@updated_at']
        const places = [
          ['@table type T { a: int §', parts],
          ['@table type T { a: int\n    b: Id[T] unique §', parts],
          ['@table type T { a: int @§', parts],
          ['@table type T { a: Id[T] on §', ['delete']],
          ['@table type T { a: Id[T] on delete §', ['restrict', 'cascade', 'set_null']],
          ['@table type T {\n    a: int\n    §', []],
          ['@table type T { a: int, b§', []],
          ['type T { a: int §', []],
          ['@table type T { a: int }\n@index T.i on (a) §', ['unique', 'where']],
          ['@table type T { a: int }\n@index T.i on (a) unique §', ['where']],
        ] as const
        for (const [place, expected] of places) assert.deepEqual(await names(`${tables}\n${place}`), expected, place)
      })

      it('gets no unknown types', async () => {
        const source = (name: string) => `fn f(a: ${name}) {}`
        assert.deepEqual(await refused(await names(`${tables}\nfn f(a: §`), source, ['typecheck.unknown_type']), [])
      })
    })

    describe('between declarations', () => {
      const decorators = ['@table', '@index', '@search_index', '@vector_index', '@endpoint', '@test']

      it('gets the keywords that start a declaration', async () => {
        const expected = ['fn', 'type', 'const', 'http', 'pub', ...decorators]
        assert.deepEqual(await names(`${tables}§`), expected)
        assert.deepEqual(await names(`§${tables}`), expected)
        assert.deepEqual(await names(`@endpoint(kind: query)\n§\n${tables}`), expected)
      })

      it('gets the decorators after @, replacing the typed prefix', async () => {
        assert.deepEqual(await names(`${tables}@§`), decorators)
        const document = await editor.open(`@ta§\n${tables}`)
        const [table] = await document.ask<CompletionItem[]>('completion')
        assert.equal(document.after([table?.textEdit as TextEdit]), `@table\n${tables}`)
      })

      const words: readonly [string, readonly string[]][] = [
        ['@table §', ['type']],
        ['@endpoint(§', ['kind']],
        ['@endpoint(kind: §', ['query', 'mutation', 'server']],
        ['@index §', ['Book', 'Reader']],
        ['@index Book.by_title on (§', conditions],
        ['http §', ['get', 'post', 'put', 'delete']],
        ['fn f(a: int) §', ['to']],
        ['pub §', ['fn', 'type']],
        ['fn §', []],
      ]
      for (const [source, expected] of words)
        it(`gets the next words: ${source}`, async () => assert.deepEqual(await names(`${tables}${source}`), expected))

      it('gets the keywords below a function without its closing brace', async () =>
        assert.ok(
          (await names(`${tables}\nfn f() { let a = (1\n\n@table type T {\n    a: int\n}\n§`)).includes('http'),
        ))
    })

    it('gets a description with each completion', async () => {
      const functions = await proposed(`${tables}\nfn f() { return §`)
      const twice = functions.find(({label}) => label === 'twice')
      assert.equal(twice?.detail, 'fn twice(n: int) to int')
      assert.deepEqual(twice.documentation, {kind: 'markdown', value: 'Twice as much.'})
      const columns = await proposed(`${tables}\nfn f() { db.Book.insert({ §`)
      assert.deepEqual(
        columns.map(({detail}) => detail),
        ['str', 'int', 'Option[str]'],
      )
    })

    it('inserts the colon of a column, unless it is already there', async () => {
      const completed = async (source: string) => {
        const document = await editor.open(source)
        const [first] = await document.ask<CompletionItem[]>('completion')
        return document
          .after([first?.textEdit as TextEdit])
          .split('\n')
          .at(-1)
      }
      assert.equal(await completed(`${tables}\nfn f() { db.Book.insert({ ti§`), 'fn f() { db.Book.insert({ title: ')
      assert.equal(
        await completed(`${tables}\nfn f() { db.Book.insert({ ti§: "a" }) }`),
        'fn f() { db.Book.insert({ title: "a" }) }',
      )
    })
  })
})

describe('a language server', () => {
  it('exits with status 0 after shutdown and exit', async () => {
    const editor = new Editor()
    await editor.start()
    await editor.open(library)
    assert.equal(await editor.stop(), 0)
  })

  it('exits with status 1 after exit without shutdown, as the protocol requires', async () => {
    const editor = new Editor()
    await editor.start()
    await editor.connection.sendNotification('exit')
    assert.equal((await editor.process).exitCode, 1)
  })

  it('exits with status 0 when its input ends, after answering earlier requests', async () => {
    const child = startSvc(['lsp'])
    const message = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {processId: null, rootUri: null, capabilities: {}},
    })
    child.stdin?.end(`Content-Length: ${message.length}\r\n\r\n${message}`)
    const {exitCode, stdout, stderr} = await child
    assert.deepEqual([exitCode, stderr], [0, ''])
    assert.match(stdout as string, /^Content-Length: \d+\r\n\r\n\{.*"name":"svc"/)
  })

  it('exits with status 0 on SIGTERM', async () => {
    const editor = new Editor()
    await editor.start()
    await editor.open(library)
    editor.process.kill('SIGTERM')
    const {exitCode, stderr} = await editor.process
    assert.deepEqual([exitCode, stderr], [0, ''])
  })

  it('exits with status 0 when the editor process has ended, even if its input is still open', async () => {
    const gone = startSvc(['--version'])
    await gone
    const editor = new Editor()
    await editor.connection.sendRequest('initialize', {processId: gone.pid, rootUri: null, capabilities: {}})
    assert.equal((await editor.process).exitCode, 0)
  })

  it('refuses requests before initialize and after shutdown, and a second initialize', async () => {
    const editor = new Editor()
    const {connection} = editor
    const hover = {textDocument: {uri: 'file:///a.svc'}, position: {line: 0, character: 0}}
    const uninitialized = {code: ErrorCodes.ServerNotInitialized, message: /is not initialized/}
    const parameters = {processId: process.pid, rootUri: null, capabilities: {}}
    for (const method of ['textDocument/hover', 'shutdown', 'unknown/method'])
      await assert.rejects(connection.sendRequest(method, hover), uninitialized)
    await connection.sendNotification('textDocument/didOpen', {})
    assert.equal((await editor.start()).serverInfo?.name, 'svc')
    await assert.rejects(connection.sendRequest('initialize', parameters), {code: ErrorCodes.InvalidRequest})
    assert.equal(await connection.sendRequest('textDocument/hover', hover), null)
    assert.equal(await connection.sendRequest('shutdown'), null)
    for (const method of ['textDocument/hover', 'shutdown', 'initialize'])
      await assert.rejects(connection.sendRequest(method, hover), {
        code: ErrorCodes.InvalidRequest,
        message: /shutting/,
      })
    await connection.sendNotification('exit')
    assert.equal((await editor.process).exitCode, 0)
  })

  it('rejects unknown requests with an error and continues', async () => {
    const editor = new Editor()
    await editor.start()
    await assert.rejects(editor.connection.sendRequest('textDocument/fold', {}), /Unhandled method/)
    await assert.rejects(editor.connection.sendRequest('textDocument/hover', {}))
    assert.deepEqual(await (await editor.open('fn f() {}\n')).diagnostics(), [])
    assert.equal(await editor.stop(), 0)
  })
})
