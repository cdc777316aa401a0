import type {Diagnostics} from '../diagnostics/index.js'
import type {
  Block,
  Body,
  ConstDecl,
  Decl,
  EndpointKind,
  FunctionDecl,
  HttpDecl,
  HttpMethod,
  IndexDecl,
  Module,
  SumDecl,
  TypeNode,
  Variant,
} from './ast.js'
import {Cursor} from './cursor.js'
import {skipDecorators} from './decorators.js'
import {documentation} from './documentation.js'
import {parseExpr} from './expressions.js'
import {declarationHint, foreignBody} from './foreign.js'
import {beginsDeclaration, foreignDecorators, foreignHeads, knownDecorators, methods, retired} from './heads.js'
import {parseParams} from './lambdas.js'
import {lex, stringValue} from './lexer.js'
import {parseBlock} from './statements.js'
import {isName, isWord, T, type Tokens} from './token.js'
import {parseCondition, parseFields, parseType} from './types.js'

/** Parses a source. Never fails: invalid code is reported and skipped. */
export function parse(source: string, diagnostics: Diagnostics): {module: Module; tokens: Tokens} {
  const tokens = lex(source, diagnostics)
  return {module: parseModule(new Cursor(tokens, diagnostics, {block: parseBlock, expr: parseExpr})), tokens}
}

/**
 * Like `parse`, but each body is parsed when it is requested, so that few syntax trees are in memory at a time. Undefined
 * if there is an error outside bodies: after an error, only the parser knows where a body ends.
 */
export function parseHeads(source: string, diagnostics: Diagnostics): Module | undefined {
  const c = new Cursor(lex(source, diagnostics), diagnostics, {block: parseBlock, expr: parseExpr})
  c.skipsBodies = true
  const module = parseModule(c)
  return c.hasReported ? undefined : module
}

function parseModule(c: Cursor): Module {
  const decls: Decl[] = []
  while (c.kind !== T.eof) {
    if (c.take(T.semicolon)) continue
    const before = c.at
    const decl = parseDeclaration(c)
    if (decl !== undefined) decls.push(decl)
    else if (c.at === before) {
      c.unexpected('a declaration', declarationHint(c))
      recover(c)
    }
  }
  return {decls, decorators: c.decorators, start: 0, end: c.tokens.source.length}
}

/**
 * decl = table | index | searchindex | vectorindex | endpoint | http | test | function | struct | sum | constant | foreign ;
 * Any decorators of other languages before it are skipped.
 */
function parseDeclaration(c: Cursor): Decl | undefined {
  const first = c.at
  skipDecorators(c, true)
  const doc = documentation(c, first)
  if (c.kind === T.decorator) return decorated(c, doc)
  if (c.kind === T.fn || (c.kind === T.pub && c.peek(1) === T.fn)) return parseFunction(c, {doc})
  if (c.kind === T.type || (c.kind === T.pub && c.peek(1) === T.type)) return parseTypeDecl(c, doc)
  if (c.isContextual('http') && methods.has(c.text(c.at + 1))) return parseHttp(c, doc)
  if (c.isContextual('const') && isName(c.peek(1))) return parseConst(c, doc)
  if (isWord(c.kind) && foreignHeads.has(c.text())) skipForeign(c)
  return undefined
}

/** constant = "const" name [ ":" type ] "=" expr ; */
function parseConst(c: Cursor, doc: string | undefined): ConstDecl {
  const {start, at} = c
  const {result, fault} = c.attempt(() => {
    c.next()
    const name = c.takeName()
    const type = c.take(T.colon) ? parseType(c) : undefined
    const value = c.expect(T.assign) ? parseExpr(c) : undefined
    if (!c.firstOnLine && c.kind !== T.semicolon && c.kind !== T.eof) c.unexpected('a new line')
    return {name, type, value}
  })
  const end = c.lastEnd
  if (fault === undefined) return {kind: 'const', ...result, fault, doc, start, end}
  c.at = at
  skipForeign(c, false)
  return {kind: 'const', ...result, value: undefined, fault, doc, start, end}
}

function decorated(c: Cursor, doc: string | undefined): Decl | undefined {
  const {start} = c
  switch (c.text()) {
    case '@table':
      return parseTable(c, doc)
    case '@index':
      return parseIndex(c, 'btree')
    case '@search_index':
      return parseIndex(c, 'search')
    case '@vector_index':
      return parseIndex(c, 'vector')
    case '@endpoint':
      return parseFunction(c, {doc, start, endpoint: endpointKind(c)})
    case '@test':
      c.next()
      return parseFunction(c, {doc, start, test: true})
  }
  if (c.text() in retired) return parseRetired(c, doc)
  if (foreignDecorators.has(c.text())) skipForeign(c)
  return undefined
}

/** table = "@table" "type" UPPER [ "was" UPPER ] "{" { field } "}" ; */
function parseTable(c: Cursor, doc: string | undefined): Decl | undefined {
  const {start} = c
  c.next()
  skipDecorators(c, false)
  c.expect(T.type, 'Write @table type Task { title: str }.')
  const name = c.upper()
  if (name === undefined) return undefined
  const was = c.takeContextual('was') ? c.upper() : undefined
  const fields = c.expect(T.braceOpen) ? parseFields(c, T.braceClose, true) : []
  return {kind: 'table', name, was, fields, doc, start, end: c.lastEnd}
}

/**
 * index = "@index" UPPER "." name "on" "(" word { "," word } ")" [ "unique" ] [ "where" "(" expr ")" ] ;
 * searchindex = "@search_index" … ; vectorindex = "@vector_index" … "{" "dimensions" ":" INT "}" ;
 */
function parseIndex(c: Cursor, style: IndexDecl['style']): IndexDecl | undefined {
  const {start} = c
  c.next()
  const table = c.upper()
  if (table === undefined || !c.expect(T.dot, 'Write @index Table.name on (column).')) {
    recover(c)
    return undefined
  }
  const name = c.name()
  if (name === undefined) return undefined
  if (!c.takeContextual('on')) c.expected("'on'")
  const columns = c.expect(T.parenOpen, 'Write the columns in parentheses: on (a, b).')
    ? c.list(T.parenClose, readWord)
    : c.items(T.eof, readWord)
  const unique = style === 'btree' && c.takeContextual('unique')
  const isPartial = style === 'btree' && c.isContextual('where') && c.peek(1) === T.parenOpen
  const where = isPartial ? parseCondition(c) : undefined
  const dimensions = style === 'vector' ? vectorDimensions(c) : undefined
  return {kind: 'index', style, table, name, columns, unique, where, dimensions, start, end: c.lastEnd}
}

const readWord = (c: Cursor) => c.word()

function vectorDimensions(c: Cursor): number | undefined {
  if (!c.expect(T.braceOpen)) return undefined
  if (!c.takeContextual('dimensions')) c.expected("'dimensions'")
  c.expect(T.colon)
  const dimensions = c.kind === T.int ? Number(c.text()) : undefined
  c.expect(T.int)
  c.expect(T.braceClose)
  return dimensions
}

const kinds: ReadonlySet<string> = new Set(['query', 'mutation', 'server'])

/** "@endpoint" "(" "kind" ":" ( "query" | "mutation" | "server" ) ")" */
function endpointKind(c: Cursor): EndpointKind | 'invalid' {
  const decorator = c.span
  c.next()
  const hasArguments = c.peek(0) === T.parenOpen && !c.firstOnLine
  if (hasArguments) c.next()
  if (!hasArguments || !c.isContextual('kind') || c.peek(1) !== T.colon || !isWord(c.peek(2))) {
    c.report(
      'parse.endpoint_kind',
      decorator,
      '@endpoint needs (kind: query), (kind: mutation) or (kind: server).',
      hasArguments
        ? {}
        : {
            fixes: [
              {label: 'Add (kind: query)', start: decorator.end, end: decorator.end, replacement: '(kind: query)'},
            ],
          },
    )
    if (hasArguments) closeParenthesis(c)
    return 'invalid'
  }
  c.at += 2
  const word = c.text()
  if (!kinds.has(word))
    c.report('parse.endpoint_kind', c.span, `Unknown endpoint kind '${word}'; use query, mutation or server.`)
  c.next()
  c.expect(T.parenClose)
  return kinds.has(word) ? (word as EndpointKind) : 'invalid'
}

function closeParenthesis(c: Cursor): void {
  while (c.kind !== T.parenClose && c.kind !== T.eof && !c.firstOnLine) {
    if (c.kind === T.parenOpen) c.skipBalanced()
    else c.next()
  }
  c.take(T.parenClose)
}

function parseRetired(c: Cursor, doc: string | undefined): Decl | undefined {
  const name = c.text()
  c.report('parse.retired_decorator', c.span, `${name} is retired; ${retired[name]}.`)
  if (name === '@component') {
    skipForeign(c, false)
    return undefined
  }
  c.next()
  if (c.kind === T.parenOpen) c.skipBalanced()
  return c.kind === T.fn || c.kind === T.pub || c.kind === T.decorator ? parseFunction(c, {doc}) : undefined
}

interface Head {
  doc: string | undefined
  start?: number
  endpoint?: FunctionDecl['endpoint']
  test?: boolean
}

/** function = [ "pub" ] "fn" name "(" params ")" [ "to" type ] block ; */
function parseFunction(c: Cursor, {doc, start = c.start, endpoint, test = false}: Head): FunctionDecl | undefined {
  skipDecorators(c, false)
  c.take(T.pub)
  if (!c.expect(T.fn)) {
    if (c.kind !== T.decorator) recover(c)
    return undefined
  }
  const name = c.name()
  if (name === undefined) {
    recover(c)
    return undefined
  }
  const {params, broken} = parseParams(c)
  const result = resultType(c)
  const body = parseBody(c)
  return {kind: 'function', name, params, result, body, endpoint, test, broken, doc, start, end: c.lastEnd}
}

/** [ "to" type ] */
function resultType(c: Cursor): TypeNode | undefined {
  const arrow = c.span
  if (c.take(T.arrow))
    c.report('parse.arrow_deprecated', arrow, "'->' is a deprecated spelling of 'to' before a return type.", {
      fixes: [{label: "Write 'to'", ...arrow, replacement: 'to'}],
    })
  else if (c.kind === T.colon) {
    const fixes = [{label: "Write 'to'", ...arrow, replacement: ' to'}]
    c.expected("'to' or '{'", {hints: ['Write fn name() to int { ... }.'], fixes})
    c.next()
  } else if (!c.take(T.to)) return undefined
  return parseType(c)
}

function parseBody(c: Cursor): Body {
  if (c.kind !== T.braceOpen) {
    c.expected("'{'", c.kind === T.fatArrow ? {hints: ['Write the body in braces: fn name() to int { 1 }.']} : {})
    if (c.take(T.fatArrow)) return foreignBody(c)
    while (c.kind !== T.braceOpen && c.kind !== T.eof && !c.firstOnLine) c.next()
  }
  if (c.kind === T.braceOpen && c.skipsBodies) return skippedBody(c)
  const block: Block =
    c.kind === T.braceOpen ? parseBlock(c) : {kind: 'block', statements: [], depth: 0, start: c.start, end: c.start}
  return () => block
}

function skippedBody(c: Cursor): Body {
  const {at} = c
  c.skipGroup()
  const end = c.at
  return () => {
    c.at = at
    const block = parseBlock(c)
    return c.hasReported || c.at !== end ? undefined : block
  }
}

/** http = "http" ( "get" | "post" | "put" | "delete" ) STRING [ "(" params ")" ] [ "to" type ] block ; */
function parseHttp(c: Cursor, doc: string | undefined): HttpDecl | undefined {
  const {start} = c
  c.next()
  const method = c.text() as HttpMethod
  c.next()
  if (c.kind !== T.string) {
    c.expected('a quoted path')
    recover(c)
    return undefined
  }
  const path = {...c.span, text: stringValue(c.text())}
  c.next()
  const {params, broken} = c.peek(0) === T.parenOpen ? parseParams(c) : {params: [], broken: false}
  const result = resultType(c)
  const body = parseBody(c)
  return {kind: 'http', method, path, params, result, body, broken, doc, start, end: c.lastEnd}
}

/** struct = [ "pub" ] "type" UPPER "{" { field } "}" ; sum = [ "pub" ] "type" UPPER "=" "|" variant { "|" variant } ; */
function parseTypeDecl(c: Cursor, doc: string | undefined): Decl | undefined {
  const {start} = c
  c.take(T.pub)
  c.next()
  const name = c.upper()
  if (name === undefined) {
    recover(c)
    return undefined
  }
  if (c.take(T.assign)) {
    if (c.kind === T.braceOpen) {
      c.unexpected('a variant', `Write a record without '=': type ${name.text} { x: int }.`)
      c.next()
      return {kind: 'record', name, fields: parseFields(c, T.braceClose), doc, start, end: c.lastEnd}
    }
    const variants = parseVariants(c)
    return {kind: 'sum', name, variants, doc, start, end: c.lastEnd} satisfies SumDecl
  }
  if (!c.expect(T.braceOpen)) {
    recover(c)
    return undefined
  }
  const fields = parseFields(c, T.braceClose)
  return {kind: 'record', name, fields, doc, start, end: c.lastEnd}
}

/** variant = UPPER [ "(" { field } ")" | "{" { field } "}" ] [ "was" UPPER ] ; */
function parseVariants(c: Cursor): Variant[] {
  const variants: Variant[] = []
  c.take(T.bar)
  do {
    if (c.kind === T.string) {
      c.unexpected('a variant', 'Variants are capitalised names: | Low | High.')
      while (c.peek(0) !== T.eof && !c.firstOnLine) c.next()
      break
    }
    const name = c.upper()
    if (name === undefined) break
    const fields = c.take(T.parenOpen)
      ? parseFields(c, T.parenClose)
      : c.take(T.braceOpen)
        ? parseFields(c, T.braceClose)
        : []
    const was = !c.firstOnLine && c.takeContextual('was') ? c.upper() : undefined
    variants.push({name, was, fields, start: name.start, end: c.lastEnd})
  } while (c.take(T.bar))
  return variants
}

/**
 * Skips an unsupported declaration: to the end of its first balanced braces, or of the line if there are none. It never
 * includes a declaration with a decorator of the data language.
 */
function skipForeign(c: Cursor, warn = true): void {
  const name = c.text()
  if (warn) c.report('parse.unsupported_declaration', c.span, `${name} is outside the data language and is skipped.`)
  let decorated = c.kind === T.decorator
  c.next()
  while (c.kind !== T.eof && c.kind !== T.semicolon) {
    if (c.firstOnLine && c.kind !== T.braceOpen) {
      if (!decorated) return
      decorated = c.kind === T.decorator
    }
    if (c.kind === T.decorator && knownDecorators.has(c.text())) return
    if (c.kind === T.braceOpen) {
      c.skipGroup()
      if (name !== 'import') return
    } else if (c.kind === T.parenOpen || c.kind === T.bracketOpen) c.skipGroup()
    else c.next()
  }
}

/** Skips to the probable start of the next declaration. */
function recover(c: Cursor): void {
  c.next()
  while (c.kind !== T.eof && !(c.firstOnLine && beginsDeclaration(c))) {
    if (c.kind === T.braceOpen) c.skipBalanced()
    else c.next()
  }
}
