import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Ajv2020} from 'ajv/dist/2020.js'
import {
  checkProgram,
  clientFile,
  type FunctionType,
  openapi,
  schemasFile,
  toJson,
  typesFile,
} from '../../src/lang/index.js'
import {opened} from './random-conditions.js'

const source = `@table type Book { title: str, about: str, note: Option[str] }
type Shelf { label: str, books: List[Book] }
fn some_titles() to List[Book] { return db.Book.all().select(title) }
@endpoint(kind: mutation) fn add(title: str) to Id[Book] { return db.Book.insert({ title: title, about: "x" }) }
@endpoint(kind: query) fn whole() to List[Book] { return db.Book.all() }
@endpoint(kind: query) fn titles() to List[Book] { return db.Book.all().select(title) }
@endpoint(kind: query) fn by_call() to List[Book] { return some_titles() }
@endpoint(kind: query) fn shelf() to Shelf { return { label: "a", books: some_titles() } }
@endpoint(kind: server) fn nested() to List[Result[int]] { return [Ok(1), Error("no")] }
@endpoint(kind: server) fn within(flag: bool) to Map[str, Result[Option[str]]] { return { a: Ok(None), b: Ok(Some("x")), c: Error("e") } }
`

interface OpenApi {
  paths: Record<
    string,
    Record<string, {operationId: string; responses: Record<string, {content: {'application/json': {schema: object}}}>}>
  >
  components: {schemas: Record<string, {required?: string[]}>}
}

describe('declared types', () => {
  const program = checkProgram(source)
  const document = openapi(program, {title: 'x', version: '1'}) as OpenApi

  it('distinguish partial rows from complete rows', () => {
    const client = clientFile(program)
    const partial = 'Promise<readonly (Pick<Book, "_id"> & Partial<Book>)[]>'
    assert.ok(client.includes('whole(init?: RequestInit): Promise<readonly Book[]>'))
    assert.ok(client.includes(`titles(init?: RequestInit): ${partial}`))
    assert.ok(client.includes(`by_call(init?: RequestInit): ${partial}`))
    assert.ok(typesFile(program).includes('books: readonly (Pick<Book, "_id"> & Partial<Book>)[]'))
    const {schemas} = document.components
    assert.deepEqual(schemas.Book?.required, ['_id', 'title', 'about'])
    assert.deepEqual(schemas['Book.partial']?.required, ['_id'])
    assert.match(schemasFile(program), /Book\$partial: z\.ZodType = .*\.partial\(\)/)
    const without = openapi(checkProgram('@table type Book { title: str }'), {title: 'x', version: '1'}) as OpenApi
    assert.deepEqual(Object.keys(without.components.schemas), ['Book', 'ErrorEnvelope'])
  })

  it('have names other than that of the error format, and routes have different operation ids', () => {
    const clashing = checkProgram(`type ErrorEnvelope { x: int }
@endpoint(kind: query) fn get_a_b() to ErrorEnvelope { return { x: 1 } }
http get "/a/b" to int { return 1 }
http get "/a/{b}" to str { return b }
`)
    const {components, paths} = openapi(clashing, {title: 'x', version: '1'}) as OpenApi
    assert.deepEqual(components.schemas.ErrorEnvelope?.required, ['x'])
    assert.deepEqual(components.schemas['ErrorEnvelope-svc']?.required, ['ok', 'code', 'message'])
    const {200: fine, 500: failed} = paths['/api/query/get_a_b']?.get?.responses ?? assert.fail()
    const refs = [fine, failed].map((one) => one?.content['application/json'].schema)
    assert.deepEqual(
      refs,
      ['ErrorEnvelope', 'ErrorEnvelope-svc'].map((name) => ({$ref: `#/components/schemas/${name}`})),
    )
    const ids = Object.values(paths).map(({get}) => get?.operationId)
    assert.deepEqual(ids, ['get_a_b', 'get_a_b_2', 'get_a_b_3'])
  })

  it('match the results of endpoints', async () => {
    assert.ok(!program.hasErrors, JSON.stringify(program.diagnostics))
    const application = await opened(program)
    const ajv = new Ajv2020({strict: false})
    ajv.addSchema({$id: 'doc', ...document})
    const call = async (name: string, args: unknown[]) => {
      const made = program.functions.find((one) => one.name === name) as FunctionType
      return toJson((await application.call(made, args)).value)
    }
    await call('add', ['a'])
    for (const route of program.routes) {
      const schema =
        document.paths[route.path]?.[route.method.toLowerCase()]?.responses[200]?.content['application/json'].schema
      const {name, params} = route.function
      const value = await call(
        name,
        params.map(({name: param}) => (param === 'title' ? 'b' : true)),
      )
      const inDocument = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/'))
      assert.ok(ajv.validate(inDocument, value), `${name}: ${JSON.stringify(value)} ${ajv.errorsText()}`)
    }
    const nested = document.paths['/api/nested']?.post?.responses[200]?.content['application/json'].schema
    assert.ok(!ajv.validate(nested as object, [1]))
    application.close()
  })
})
