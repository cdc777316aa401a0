import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {join, relative} from 'node:path'
import {describe, it} from 'node:test'
import type {Severity} from '../../src/tasks/base/finding.js'
import {languageOf, spansOf} from '../../src/tasks/scan/languages.js'
import {scanReport} from '../../src/tasks/scan/report.js'
import {rules} from '../../src/tasks/scan/rules.js'
import {baselineOf, maxFindings, scanText} from '../../src/tasks/scan/scan-text.js'
import {projectFile} from '../support/project.js'

const rulesIn = (path: string, text: string) => scanText(path, text).map(({rule}) => rule)
const lines = (...all: string[]) => all.join('\n')

const jwtHeader = Buffer.from('{"alg":"HS256"}').toString('base64url')
const jwt = `${jwtHeader}.eyJzdWIiOiIxIn0.c2lnbmF0dXJl`
const awsKey = `AKIA${'Q7R2M9X4K1Z8W3T6'}`
const random = 'f3k9XwQ2mB7zLp5d'

describe('the lexer of source text', () => {
  /** Comments and strings of a text; each is `//` or `""`, then its text. */
  const marked = (path: string, text: string) =>
    spansOf(text, languageOf(path))
      .filter(({kind}) => kind === 'comment' || kind === 'string')
      .map(({kind, start, end}) => (kind === 'comment' ? '//' : '""') + text.slice(start, end))

  const cases: readonly [name: string, path: string, text: string, expected: string[]][] = [
    ['line comments end at the line', 'a.ts', 'a // b\nc', ['//// b']],
    ['block comments do not nest in TypeScript', 'a.ts', '/* /* */ a */', ['///* /* */']],
    ['block comments nest in Rust', 'a.rs', '/* /* */ a */ b', ['///* /* */ a */']],
    ['unterminated block comments end with the file', 'a.c', 'a /* b\nc', ['///* b\nc']],
    ['unterminated strings end at the line', 'a.ts', "a = 'b\n// c", ['""\'b', '//// c']],
    ['escaped quotes do not end a string', 'a.ts', "'a\\'// b'", ["\"\"'a\\'// b'"]],
    ['a backslash continues a string on the next line', 'a.js', "'a\\\r\nb' // c", ['""\'a\\\r\nb\'', '//// c']],
    ['comment openers in strings are text', 'a.go', 'a := "// b"', ['"""// b"']],
    [
      'templates contain code',
      'a.ts',
      `\`a \${b /* c */ + \`d \${e}\`} f\` // g`,
      ['""`a ${', '///* c */', '""`d ${', '""}`', '""} f`', '//// g'],
    ],
    ['braces in a template hole do not end it', 'a.ts', `\`\${ {a: 1} }\` // b`, ['""`${', '""}`', '//// b']],
    ['unterminated templates end with the file', 'a.ts', '`a\n// b', ['""`a\n// b']],
    ['regular expressions can contain //', 'a.ts', 'x = /[/]\\/\\/"/.test(y) // b', ['""/[/]\\/\\/"/', '//// b']],
    ['a regular expression follows return', 'a.js', "return /'/ // b", ['""/\'/', '//// b']],
    ['a regular expression follows a condition', 'a.js', "if (a) /'/.test(b) // c", ['""/\'/', '//// c']],
    ['slashes after values divide', 'a.js', "a / b / 'c'; (d) / e / f[0] / g // h", ['""\'c\'', '//// h']],
    ['slashes of tags do not start a regular expression', 'a.tsx', '<a b={c} />{d}</a> // e', ['//// e']],
    ['lifetimes are not strings', 'a.rs', "fn a<'a, 'b>(c: &'a str) { '\"' } // d", ['""\'"\'', '//// d']],
    ['raw strings of Rust end at their hashes', 'a.rs', 'r#"a" // b"# // c', ['""r#"a" // b"#', '//// c']],
    ['raw strings of Go have no escapes', 'a.go', '`a\\` // b', ['""`a\\`', '//// b']],
    ['verbatim strings of C# have no escapes', 'a.cs', '@"a\\""b" // c', ['""@"a\\""b"', '//// c']],
    ['raw strings of C++ end at their delimiter', 'a.cpp', 'R"x(a)" // b)x" // c', ['""R"x(a)" // b)x"', '//// c']],
    ['digit separators of C++ are not quotes', 'a.cpp', "1'000 // a", ['//// a']],
    ['text blocks of Java contain quotes', 'a.java', '"""\n"a" // b\n""" // c', ['"""""\n"a" // b\n"""', '//// c']],
    ['docstrings are strings', 'a.py', '"""a # b\n""" # c', ['"""""a # b\n"""', '//# c']],
    ['hashes in shell words are not comments', 'a.sh', `echo \${a#b} $# # c`, ['//# c']],
    ['shell strings can contain line feeds', 'a.sh', "a='b\n# c' # d", ['""\'b\n# c\'', '//# d']],
    ['here documents are strings', 'a.sh', "cat <<'EOF'\n# it's\nEOF\n# b", ["\"\"<<'EOF'\n# it's\nEOF", '//# b']],
    ['an apostrophe in a YAML value is text', 'a.yaml', "a: don't # b\nc: 'd # e'", ['//# b', '""\'d # e\'']],
    ['a Dockerfile has hash comments', 'x/Dockerfile', 'RUN a # b', ['//# b']],
    ['SQL comments start with two hyphens', 'a.sql', "select '--' -- b", ['""\'--\'', '//-- b']],
    ['Lua comments can be long', 'a.lua', '--[[ a\nb ]] c -- d', ['//--[[ a\nb ]]', '//-- d']],
    ['Haskell comments nest', 'a.hs', "f' = 1 {- {- a -} -} -- b", ['//{- {- a -} -}', '//-- b']],
    ['CSS has block comments only', 'a.css', 'a { b: url(//c) } /* d */', ['///* d */']],
    [
      'scripts of a page are code',
      'a.html',
      "<!-- a --> it's <script>b // c\n</script> // d",
      ['//<!-- a -->', '//// c\n'],
    ],
    ['PHP outside its tags is a page', 'a.php', "it's <?php a() # b\n?> # c", ['//# b\n']],
    ['a line that starts with #! is a comment', 'a.mjs', '#!/usr/bin/env node\na', ['//#!/usr/bin/env node']],
    [
      'Markdown has comments, fences and inline code',
      'a.md',
      lines('a `<!--` b <!-- c -->', '```js', '// d', '```', '// e'),
      ['""`<!--`', '//<!-- c -->', '""```js\n// d\n```\n'],
    ],
    ['unterminated fences end with the file', 'a.md', '- ~~~\n<!-- a -->\n```', ['""- ~~~\n<!-- a -->\n```']],
    ['inline code ends in its paragraph', 'a.md', '`a\n\n<!-- b --> `', ['//<!-- b -->']],
    ['unknown files are text', 'a.unknown', '// a "b" # c', []],
  ]
  for (const [name, path, text, expected] of cases)
    it(name, () => {
      assert.deepEqual(
        marked(path, text).map((part) => part.trimEnd()),
        expected.map((part) => part.trimEnd()),
      )
    })

  it('covers every text without gaps', () => {
    for (const path of ['a.ts', 'a.rs', 'a.py', 'a.md', 'a.html', 'a.sh', 'a.lua', 'a.unknown'])
      for (const text of [
        '',
        '`',
        "'",
        '"""',
        '/*',
        '<!--',
        '${',
        '}',
        '\\',
        '<?php',
        '<<EOF',
        '\0\ud800',
        '```',
        '\r\n',
      ])
        assert.equal(
          spansOf(text, languageOf(path))
            .map(({start, end}) => text.slice(start, end))
            .join(''),
          text,
        )
  })
})

describe('scanText', () => {
  const found: readonly [rule: string, path: string, text: string][] = [
    ['stub/todo', 'a.rs', 'fn a() -> u8 { todo!() }'],
    ['stub/todo', 'a.kt', 'fun a(): Int = TODO()'],
    ['stub/throw-not-implemented', 'a.ts', "throw new Error('not implemented')"],
    ['stub/throw-not-implemented', 'a.ts', 'throw new Error("Method not implemented.")'],
    ['stub/throw-not-implemented', 'a.ts', `throw new TypeError(\`\${name} is not yet implemented\`)`],
    ['stub/throw-not-implemented', 'a.ts', "return Promise.reject(new Error('TODO: implement'))"],
    ['stub/throw-not-implemented', 'a.go', 'panic("not implemented")'],
    ['stub/throw-not-implemented', 'a.rs', 'panic!("not implemented: {}", a)'],
    ['stub/throw-not-implemented', 'a.py', 'raise Exception(f"Not implemented")'],
    ['stub/throw-not-implemented', 'a.php', '<?php throw new \\Exception("not implemented");'],
    ['stub/throw-not-implemented', 'a.rb', 'raise "not implemented"'],
    ['stub/throw-not-implemented', 'a.swift', 'fatalError("unimplemented")'],
    ['stub/throw-not-implemented', 'a.cpp', 'throw std::runtime_error("not implemented");'],
    ['stub/not-implemented-error', 'a.py', 'raise NotImplementedError'],
    ['stub/not-implemented-error', 'a.py', 'raise NotImplementedError("not implemented")'],
    ['stub/not-implemented-error', 'a.cs', 'throw new System.NotImplementedException();'],
    ['stub/not-implemented-error', 'a.java', 'throw new UnsupportedOperationException();'],
    ['stub/unimplemented', 'a.rs', 'unimplemented!("later")'],
    ['stub/unimplemented', 'a.scala', 'def a: Int = ???'],
    ['stub/placeholder', 'a.ts', '/* FIXME */'],
    ['stub/placeholder', 'a.py', '# STUB: returns a constant'],
    ['stub/placeholder', 'a.md', '## TODO: describe this'],
    ['stub/placeholder', 'a.md', '- [ ] **TODO:** describe this'],
    ['stub/placeholder', 'a.txt', '\ufeffTBD'],
    ['stub/placeholder', 'a.rst', '  1. PLACEHOLDER'],
    ['stub/todo-comment', 'a.ts', 'a() // TODO: b'],
    ['stub/todo-comment', 'a.ts', '/**\r\n * TODO(alice) b\r\n */'],
    ['stub/todo-comment', 'a.tsx', 'return <p>{/* TODO */}</p>'],
    ['stub/todo-comment', 'a.sql', '-- TODO'],
    ['stub/todo-comment', 'a.md', 'a <!-- TODO --> b'],
    ['stub/todo-comment', 'todo.md', '<!-- TODO -->'],
    ['stub/todo-comment', 'a.ts', 'x = /[/]"/ // TODO'],
    ['security/hardcoded-secret/generic', 'a.ts', `const apiKey = '${random}'`],
    ['security/hardcoded-secret/generic', 'a.ts', `const API_KEY: string = "${random}"`],
    ['security/hardcoded-secret/generic', 'a.ts', `const key = process.env.API_KEY ?? '${random}'`],
    ['security/hardcoded-secret/generic', 'a.rs', `const CLIENT_SECRET: &str = "${random}";`],
    ['security/hardcoded-secret/generic', 'a.go', `authToken := "${random}"`],
    ['security/hardcoded-secret/generic', 'a.py', `os.environ["DB_PASSWORD"] = "${random}"`],
    ['security/hardcoded-secret/generic', 'a.php', `<?php define('API_KEY', '${random}');`],
    ['security/hardcoded-secret/generic', 'a.json', `{"api-key": "${random}"}`],
    ['security/hardcoded-secret/generic', 'a.ts', `// password = "${random}"`],
    ['security/hardcoded-secret/generic', 'a.yaml', `password: ${random}`],
    ['security/hardcoded-secret/generic', '.env.local', `ACCESS_TOKEN=${random}`],
    ['security/hardcoded-secret/generic', 'a.md', `    export API_KEY=${random}`],
    ['security/hardcoded-secret/jwt', 'a.ts', `const header = 'Bearer ${jwt}'`],
    ['security/hardcoded-secret/jwt', 'a.unknown', `token = "${jwt}"`],
    ['security/hardcoded-secret/aws-key', 'a.toml', `access_key_id = "${awsKey}"`],
    ['arch/empty_body', 'a.ts', 'export function a(b: string): void {}'],
    ['arch/empty_body', 'a.ts', 'class A {\n  async save(b: string): Promise<void> {\n  }\n}'],
    ['arch/empty_body', 'a.go', 'func (s *Store) Save(a int) error {}'],
    ['arch/empty_body', 'a.py', 'def a(b):\n    """Saves b."""\n    pass\n\nc = 1'],
    ['skeleton/hollow-fn', 'a.ts', 'function isValid(a: string): boolean { return true }'],
    ['skeleton/hollow-fn', 'a.js', "  render(page) {\n    return ''\n  }"],
    ['skeleton/hollow-fn', 'a.rs', 'fn valid(&self, a: &str) -> bool { true }'],
    ['skeleton/hollow-fn', 'a.py', 'def valid(self, a):\r\n    return True\r\n'],
    ['victory-claim/premature', 'a.ts', '// Fully implemented and production-ready.'],
    ['victory-claim/premature', 'a.py', '# ✅ All tests pass'],
    ['ai-laziness/elided-code', 'a.ts', '// ... rest of the code remains the same'],
    ['ai-laziness/elided-code', 'a.py', '# ... existing code ...'],
    ['ai-laziness/elided-code', 'a.go', '// implementation omitted for brevity'],
    ['ai-laziness/simplified-logic', 'a.ts', '// In a real implementation, this would call the server.'],
    ['ai-laziness/missing-code', 'a.ts', '// Add your logic here'],
  ]
  for (const [rule, path, text] of found)
    it(`reports ${rule} for ${JSON.stringify(text)} in ${path}`, () => assert.deepEqual(rulesIn(path, text), [rule]))

  it('has a case for every rule', () =>
    assert.deepEqual([...new Set(found.map(([rule]) => rule))].sort(), rules.map(({id}) => id).sort()))

  const clean: readonly [path: string, text: string][] = [
    ['a.ts', "const a = 'TODO: b'"],
    ['a.ts', `\`// TODO \${a}\``],
    ['a.ts', 'const todo = /\\/\\/ TODO/'],
    ['a.ts', '// Lists `TODO` comments and todo items, TODOS and TODO_LIST'],
    ['a.ts', 'const TODO = FIXME + STUB'],
    ['a.ts', 'TODO()'],
    ['a.py', '"""TODO"""'],
    ['a.ts', "throw new Error('The list of TODO items is empty')"],
    ['a.ts', "throw new Error('Not implemented for streams')"],
    ['a.ts', "log.error('not implemented')"],
    ['a.ts', "// throw new Error('not implemented')"],
    ['a.ts', '"throw new Error(\'not implemented\')"'],
    ['a.py', 'except NotImplementedError:'],
    ['a.py', 'return NotImplemented'],
    ['a.rs', '// todo!() and unimplemented!()'],
    ['a.ts', 'const a = b ??? c'],
    ['a.md', 'Write TODO: before an item.'],
    ['a.md', '```\nTODO: a\n```'],
    ['a.md', '`TODO: a`'],
    ['a.md', '`a` TODO: b'],
    ['a.md', '    # TODO: b'],
    ['docs/ROADMAP.md', '- TODO: a'],
    ['CHANGELOG.md', 'TBD'],
    ['a.unknown', 'TODO: a // FIXME'],
    ['a.ts', "const apiKey = 'your-api-key-goes-here-1'"],
    ['a.ts', `const apiKey = '${'x'.repeat(20)}1'`],
    ['a.ts', "const secret = 'EXAMPLE-1234567890'"],
    ['a.ts', `const token = \`Bearer1\${getToken()}abcdefgh\``],
    ['a.ts', `const token = "<token-1234567890>"`],
    ['a.ts', "const tokenName = 'refresh-token-name-v2'"],
    ['a.ts', "const password = 'correct-horse-battery'"],
    ['a.ts', "const password = 'short1'"],
    ['a.ts', 'const token = readTokenFromHeader1234(request)'],
    ['a.ts', "const tokenizer = 'f3k9XwQ2mB7zLp5d'"],
    ['a.ts', `const checksum = '${random}'`],
    ['a.ts', `if (token === '${random}') a()`],
    ['a.yaml', `password: \${DB_PASSWORD_12345}`],
    ['a.yaml', 'token_file: /var/run/secrets/token1'],
    ['a.sh', 'TOKEN=$(cat /run/token-1234567890)'],
    ['a.ts', "const a = 'eyJhbGciOi.eyJzdWIi.c2ln'"],
    ['a.ts', `const a = '${awsKey.slice(0, 13)}EXAMPLE'`],
    ['a.ts', `const a = '${awsKey}0'`],
    ['a.ts', 'class A { constructor(private readonly a: B) {} }'],
    ['a.ts', 'function a() { /* Nothing to do: the file is read-only. */ }'],
    ['a.ts', 'if (a) {}'],
    ['a.ts', 'while (a()) { }'],
    ['a.ts', 'const a = () => {}'],
    ['a.ts', 'isSupported() { return true }'],
    ['a.ts', 'valid(_a: string) { return true }'],
    ['a.ts', 'valid(a: string) { return a }'],
    ['a.ts', 'find(a: B): C | {}'],
    ['a.py', 'class A(Exception):\n    pass'],
    ['a.py', '@abstractmethod\ndef a(b):\n    pass'],
    ['a.py', 'def a(b):\n    pass\n    return b'],
    ['a.ts', '// All tests pass if the server is running.'],
    ['a.ts', '// The rest of the line is a comment.'],
    ['a.ts', "const a = 'production-ready'"],
  ]
  for (const [path, text] of clean)
    it(`finds nothing in ${JSON.stringify(text)} in ${path}`, () => assert.deepEqual(rulesIn(path, text), []))

  it('reports the severity, the path and the line', () =>
    assert.deepEqual(scanText('src/a.ts', 'a()\r\n\r\n  // TODO: b\r\n'), [
      {
        rule: 'stub/todo-comment',
        severity: 'error',
        path: 'src/a.ts',
        line: 3,
        message: 'A comment says that work remains to be done here.',
      },
    ]))

  it('reports a rule once per line, in order of lines, then the most severe first', () => {
    const text = lines('// TODO: a, TODO: b', `k = '${awsKey}' // FIXME`, '// TODO')
    assert.deepEqual(
      scanText('a.ts', text).map(({rule, line}) => `${line} ${rule}`),
      ['1 stub/todo-comment', '2 security/hardcoded-secret/aws-key', '2 stub/placeholder', '3 stub/todo-comment'],
    )
  })

  it('only warns of secrets in test fixtures, and ignores stubs there', () => {
    const text = lines('// TODO', 'throw new Error("not implemented")', `k = '${awsKey}'`)
    for (const folder of ['test/fixtures', '__fixtures__', 'a/testdata/b', '__snapshots__'])
      assert.deepEqual(
        scanText(`${folder}/a.ts`, text).map(({rule, severity}) => [rule, severity]),
        [['security/hardcoded-secret/aws-key', 'warning']],
      )
    assert.equal(scanText('src/fixtures.ts', text).length, 3)
  })

  it('never includes a secret in a message', () => {
    const secrets = [random, jwt, awsKey]
    const text = lines(...secrets.map((secret) => `token = '${secret}'`), `password: ${random}`)
    const findings = scanText('a.yaml', text)
    assert.equal(findings.length, 4)
    const stored = JSON.stringify([findings, baselineOf('a.yaml', text)])
    for (const secret of secrets) assert.ok(!stored.includes(secret))
  })

  it('keeps the most severe findings of a file that has too many', () => {
    const text = `${'// Fully implemented\n'.repeat(maxFindings)}k = '${awsKey}'\n// TODO`
    const findings = scanText('a.ts', text)
    assert.equal(findings.length, maxFindings)
    assert.deepEqual(
      findings.slice(-2).map(({severity}) => severity),
      ['critical', 'error'],
    )
  })

  it('finds no errors in the source of this project', () => {
    const root = projectFile('.')
    for (const folder of ['src', 'commands'])
      for (const file of readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})) {
        if (!/\.\w+$/.test(file)) continue
        const path = relative(root, join(root, folder, file))
        const findings = scanText(path, readFileSync(join(root, path), 'utf8'))
        assert.equal(scanReport(findings).error_count, 0, JSON.stringify(findings))
      }
  })
})

describe('the baseline of a scan', () => {
  const severitiesAfter = (before: string, after: string): Severity[] =>
    scanText('a.ts', after, baselineOf('a.ts', before)).map(({severity}) => severity)

  it('reduces findings that existed before to information', () =>
    assert.deepEqual(severitiesAfter('// TODO: a', '// TODO: a\n// TODO: b'), ['info', 'error']))

  it('recognises lines that moved or were indented', () =>
    assert.deepEqual(severitiesAfter('// TODO: a\nb()', 'b()\r\n\r\n  // TODO: a\r\n'), ['info']))

  it('counts equal lines', () =>
    assert.deepEqual(severitiesAfter('// TODO\n// TODO', '// TODO\n// TODO\n// TODO'), ['info', 'info', 'error']))

  it('distinguishes rules on the same line', () =>
    assert.deepEqual(severitiesAfter('// TODO FIXME', '// TODO FIXME'), ['info', 'info']))

  it('reports a line that changed', () => assert.deepEqual(severitiesAfter('// TODO: a', '// TODO: b'), ['error']))

  it('contains all findings, so that a long file has no new ones', () => {
    const text = Array.from({length: maxFindings + 50}, (_, i) => `// TODO: ${i}`).join('\n')
    assert.deepEqual([...new Set(severitiesAfter(text, text.slice(text.indexOf('\n') + 1)))], ['info'])
  })

  it('is stored as short hashes', () => {
    const baseline: unknown = JSON.parse(JSON.stringify(baselineOf('a.ts', '// TODO: a')))
    assert.ok(Array.isArray(baseline) && baseline.length === 1)
    assert.match(String(baseline[0]), /^[0-9a-f]{16}$/)
  })
})

describe('scanReport', () => {
  const finding = (severity: Severity) => ({rule: 'stub/todo', severity, path: 'a.rs', line: 1, message: 'a'})

  it('passes with warnings and information', () => {
    const findings = [finding('warning'), finding('info')]
    assert.deepEqual(scanReport(findings), {passed: true, error_count: 0, warning_count: 1, findings})
  })

  it('fails with errors and critical findings', () => {
    const findings = [finding('critical'), finding('error')]
    assert.deepEqual(scanReport(findings), {passed: false, error_count: 2, warning_count: 0, findings})
  })
})

describe('the time of a scan', () => {
  const size = 500_000
  const parts = [
    '`',
    '`${',
    '"',
    "'",
    '/',
    '/*',
    '/[',
    '[',
    '](',
    '{',
    '}',
    '(',
    '\\',
    '\n',
    ' ',
    '\t',
    '-',
    '#',
    '=',
    '<!--',
    '<a ',
    '<script>',
    '``` ',
    '`a``b```',
    'eyJ',
    'eyJ.',
    'eyJ-',
    'token=',
    "token='",
    'token: ',
    'secret',
    'AKIA',
    'throw ',
    'throw new a.',
    'fn a(',
    'function a(b) {',
    'def a(b):\n',
    'def a():\n  pass\n\n',
    '<<EOF\n',
    'r#',
    '--[[',
    '"""',
    "'a",
    'TODO',
    '...',
    'rest of the a ',
    '\r\n',
    '> ',
    '- ',
    '[x]: ',
    'R"(',
    '@"',
    '{-',
    '<?php ',
    'in a real ',
    '\ud800',
    '\0',
  ]
  const paths = ['a.ts', 'a.rs', 'a.py', 'a.md', 'a.html', 'a.sh', 'a.cpp', 'a.yaml']
  for (const path of paths)
    it(`is bounded for repetitive text in ${path}`, () => {
      for (const part of parts) {
        const text = part.repeat(Math.ceil(size / 8 / part.length))
        assert.ok(scanText(path, text).length <= maxFindings)
      }
    })

  it('grows with the size of the text', () => {
    const text = parts.map((part) => part.repeat(100)).join('')
    const time = (repeats: number) => {
      const large = text.repeat(repeats)
      const start = process.cpuUsage()
      for (const path of paths) scanText(path, large)
      const {user, system} = process.cpuUsage(start)
      return user + system
    }
    const unit = Math.ceil(size / text.length)
    time(unit)
    const [small, large] = [time(unit), time(4 * unit)]
    // Quadratic time would be a factor of 16.
    assert.ok(large < 12 * small, `${small} µs, then ${large} µs`)
  })
})
